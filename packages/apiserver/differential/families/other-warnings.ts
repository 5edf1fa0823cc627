/** Questionable objects, other than pods, that are stored anyway. */
import type { Family, Probe } from "./family.ts";

type Fields = Readonly<Record<string, unknown>>;

interface Questionable {
  readonly path: string;
  readonly kind: string;
  readonly fine: Fields;
  /** What is merged into the valid object, one part at a time. */
  readonly mistakes: Readonly<Record<string, Fields>>;
  readonly status?: Readonly<Record<string, Fields>>;
}

const addresses = ["1.2.3.4", "001.2.3.4", "::1", "2001:DB8::1", "2001:db8:0:0::1", "::ffff:1.2.3.4", "fe80::1", "x"];
const ranges = [
  "10.0.0.0/8",
  "10.0.0.1/8",
  "10.0.0.0/08",
  "010.0.0.0/8",
  "2001:DB8::/32",
  "2001:db8::1/32",
  "::ffff:1.2.3.0/120",
  "x",
];

function each<Name extends string>(
  names: readonly Name[],
  label: string,
  make: (name: Name) => Fields,
): Record<string, Fields> {
  return Object.fromEntries(names.map((name) => [`${label} ${name}`, make(name)]));
}

function annotated(name: string, value = "x"): Fields {
  return { metadata: { annotations: { [name]: value } } };
}

const ports = [{ port: 80 }];
const key = "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n";
const certificate = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
const text = (value: string): string => Buffer.from(value).toString("base64");
const oldLabel = "failure-domain.beta.kubernetes.io/zone";

function pair(crt: string, secret: string): Fields {
  return { data: { "tls.crt": text(crt), "tls.key": text(secret) } };
}

const questionable: readonly Questionable[] = [
  {
    path: "/api/v1/namespaces/$/services",
    kind: "Service",
    fine: { spec: { ports } },
    mistakes: {
      "topology hints": annotated("service.kubernetes.io/topology-aware-hints", "auto"),
      "topology mode": annotated("service.kubernetes.io/topology-mode", "auto"),
      ...each(addresses, "external address", (ip) => ({ spec: { externalIPs: [ip] } })),
      ...each(addresses, "balancer address", (ip) => ({ spec: { type: "LoadBalancer", loadBalancerIP: ip } })),
      ...each(ranges, "source range", (range) => ({
        spec: { type: "LoadBalancer", loadBalancerSourceRanges: [range] },
      })),
      headless: { spec: { clusterIP: "None" } },
      "headless with an external address": { spec: { clusterIP: "None", externalIPs: ["1.2.3.4"] } },
      "headless with affinity": { spec: { clusterIP: "None", sessionAffinity: "ClientIP" } },
      "headless with a balancer": { spec: { clusterIP: "None", loadBalancerIP: "1.2.3.4" } },
      "external name": { spec: { type: "ExternalName", externalName: "a.test" } },
      "external name with an address": {
        spec: { type: "ExternalName", externalName: "a.test", externalIPs: ["1.2.3.4"] },
      },
      "external name of another type": { spec: { externalName: "a.test" } },
      "prefer close": { spec: { trafficDistribution: "PreferClose" } },
      "prefer the zone": { spec: { trafficDistribution: "PreferSameZone" } },
      "a cluster address with zeros": { spec: { clusterIP: "10.096.0.77" } },
      many: {
        metadata: { annotations: { "service.kubernetes.io/topology-aware-hints": "auto" } },
        spec: { externalIPs: ["1.2.3.4"], externalName: "a.test", trafficDistribution: "PreferClose" },
      },
    },
    status: each(addresses, "ingress address", (ip) => ({ status: { loadBalancer: { ingress: [{ ip }] } } })),
  },
  {
    path: "/apis/networking.k8s.io/v1/namespaces/$/ingresses",
    kind: "Ingress",
    fine: { spec: { defaultBackend: { service: { name: "s", port: { number: 80 } } } } },
    mistakes: {
      "class annotation": annotated("kubernetes.io/ingress.class"),
      "class annotation and field": {
        metadata: { annotations: { "kubernetes.io/ingress.class": "x" } },
        spec: { ingressClassName: "x" },
      },
    },
    status: each(addresses, "ingress address", (ip) => ({ status: { loadBalancer: { ingress: [{ ip }] } } })),
  },
  {
    path: "/apis/networking.k8s.io/v1/namespaces/$/networkpolicies",
    kind: "NetworkPolicy",
    fine: { spec: { podSelector: {} } },
    mistakes: {
      ...each(ranges, "from", (cidr) => ({
        spec: { ingress: [{ from: [{ podSelector: {} }, { ipBlock: { cidr } }] }] },
      })),
      ...each(ranges, "except", (range) => ({
        spec: { policyTypes: ["Egress"], egress: [{ to: [{ ipBlock: { cidr: "0.0.0.0/0", except: [range] } }] }] },
      })),
    },
  },
  {
    path: "/api/v1/namespaces/$/secrets",
    kind: "Secret",
    fine: { type: "kubernetes.io/tls", data: { "tls.crt": "", "tls.key": "" } },
    mistakes: {
      "no pem": pair("x", "y"),
      "a key for the certificate": pair(key, key),
      "other blocks": pair("-----BEGIN FOO-----\nAAAA\n-----END FOO-----\n", key),
      "no key": pair(certificate, "y"),
    },
  },
  {
    path: "/api/v1/namespaces/$/serviceaccounts",
    kind: "ServiceAccount",
    fine: {},
    mistakes: { "mountable secrets": annotated("kubernetes.io/enforce-mountable-secrets", "true") },
  },
  {
    path: "/api/v1/namespaces/$/endpoints",
    kind: "Endpoints",
    fine: { subsets: [{ addresses: [{ ip: "10.0.0.1" }], ports }] },
    mistakes: {
      ...each(addresses, "address", (ip) => ({ subsets: [{ addresses: [{ ip }], ports }] })),
      ...each(addresses.slice(0, 4), "address that is not ready", (ip) => ({
        subsets: [{ notReadyAddresses: [{ ip }], ports }],
      })),
      managed: {
        metadata: { labels: { "endpoints.kubernetes.io/managed-by": "endpoint-controller" } },
        subsets: [{ addresses: [{ ip: "2001:DB8::1" }], ports }],
      },
    },
  },
  {
    path: "/apis/discovery.k8s.io/v1/namespaces/$/endpointslices",
    kind: "EndpointSlice",
    fine: { addressType: "IPv4", endpoints: [{ addresses: ["10.0.0.1"] }], ports },
    mistakes: {
      names: { addressType: "FQDN", endpoints: [{ addresses: ["a.test"] }] },
      ...each(addresses, "address", (ip) => ({
        addressType: ip.includes(":") ? "IPv6" : "IPv4",
        endpoints: [{ addresses: [ip] }],
      })),
      managed: {
        metadata: { labels: { "endpointslice.kubernetes.io/managed-by": "endpointslice-controller.k8s.io" } },
        addressType: "IPv6",
        endpoints: [{ addresses: ["2001:DB8::1"] }],
      },
    },
  },
  {
    path: "/api/v1/namespaces/$/resourcequotas",
    kind: "ResourceQuota",
    fine: { spec: { hard: { pods: "1" } } },
    mistakes: {
      cpu: { spec: { hard: { "requests.cpu": "3", "limits.cpu": "2" } } },
      "bare memory": { spec: { hard: { memory: "3Gi", "limits.memory": "2Gi" } } },
      "bare and prefixed cpu": { spec: { hard: { cpu: "5", "requests.cpu": "1", "limits.cpu": "2" } } },
      "ephemeral storage": { spec: { hard: { "requests.ephemeral-storage": "3", "limits.ephemeral-storage": "2" } } },
      equal: { spec: { hard: { "requests.cpu": "2", "limits.cpu": "2000m" } } },
    },
  },
  {
    path: "/api/v1/nodes",
    kind: "Node",
    fine: {},
    mistakes: {
      "external id": { spec: { externalID: "x" } },
      "config source": { spec: { configSource: { configMap: { name: "c", namespace: "n", kubeletConfigKey: "k" } } } },
      ...each(ranges, "range", (range) => ({ spec: { podCIDR: range, podCIDRs: [range] } })),
    },
  },
  {
    path: "/api/v1/persistentvolumes",
    kind: "PersistentVolume",
    fine: { spec: { capacity: { storage: "1Gi" }, accessModes: ["ReadWriteOnce"], hostPath: { path: "/x" } } },
    mistakes: {
      "class annotation": annotated("volume.beta.kubernetes.io/storage-class"),
      "options annotation": annotated("volume.beta.kubernetes.io/mount-options"),
      recycled: { spec: { persistentVolumeReclaimPolicy: "Recycle" } },
      "old label": {
        spec: {
          nodeAffinity: {
            required: { nodeSelectorTerms: [{ matchExpressions: [{ key: oldLabel, operator: "Exists" }] }] },
          },
        },
      },
      ...Object.fromEntries(
        Object.entries({
          cephfs: { monitors: ["m"] },
          photonPersistentDisk: { pdID: "x" },
          scaleIO: { gateway: "g", system: "s", volumeName: "v", secretRef: { name: "s", namespace: "n" } },
          storageos: { volumeName: "x" },
          glusterfs: { endpoints: "e", path: "p" },
          rbd: { monitors: ["m"], image: "i" },
        }).map(([name, source]) => [name, { spec: { hostPath: null, [name]: source } }]),
      ),
    },
  },
  {
    path: "/api/v1/namespaces/$/persistentvolumeclaims",
    kind: "PersistentVolumeClaim",
    fine: { spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } } },
    mistakes: {
      "class annotation": annotated("volume.beta.kubernetes.io/storage-class"),
      "fraction of a request": { spec: { resources: { requests: { storage: "1.5" } } } },
      "fraction of a limit": { spec: { resources: { limits: { storage: "1500000500m" } } } },
    },
  },
  {
    path: "/apis/node.k8s.io/v1/runtimeclasses",
    kind: "RuntimeClass",
    fine: { handler: "h" },
    mistakes: { "old label": { scheduling: { nodeSelector: { [oldLabel]: "x" } } } },
  },
  {
    path: "/apis/storage.k8s.io/v1/storageclasses",
    kind: "StorageClass",
    fine: { provisioner: "p.test/x" },
    mistakes: { "old label": { allowedTopologies: [{ matchLabelExpressions: [{ key: oldLabel, values: ["a"] }] }] } },
  },
  {
    path: "/apis/storage.k8s.io/v1/namespaces/$/csistoragecapacities",
    kind: "CSIStorageCapacity",
    fine: { storageClassName: "s" },
    mistakes: {
      "old label": { nodeTopology: { matchLabels: { [oldLabel]: "x" } } },
      "old expression": { nodeTopology: { matchExpressions: [{ key: oldLabel, operator: "Exists" }] } },
    },
  },
  {
    path: "/apis/storage.k8s.io/v1/csidrivers",
    kind: "CSIDriver",
    fine: { spec: {} },
    mistakes: {
      tokens: { spec: { tokenRequests: [{ audience: "a" }] } },
      "tokens in secrets": { spec: { tokenRequests: [{ audience: "a" }], serviceAccountTokenInSecrets: true } },
    },
  },
  {
    path: "/apis/resource.k8s.io/v1/resourceslices",
    kind: "ResourceSlice",
    fine: { spec: { driver: "d.test", nodeName: "n", pool: { name: "p", generation: 1, resourceSliceCount: 1 } } },
    mistakes: { "upper case": { spec: { driver: "D.test" } } },
  },
  {
    path: "/apis/apps/v1/namespaces/$/statefulsets",
    kind: "StatefulSet",
    fine: {
      spec: {
        serviceName: "s",
        selector: { matchLabels: { a: "b" } },
        template: { metadata: { labels: { a: "b" } }, spec: { containers: [{ name: "c", image: "i" }] } },
      },
    },
    mistakes: {
      "negative history": { spec: { revisionHistoryLimit: -1 } },
      "fraction of a claim": {
        spec: {
          volumeClaimTemplates: [
            {
              metadata: { name: "d" },
              spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1.5" } } },
            },
          ],
        },
      },
    },
  },
  {
    path: "/apis/batch/v1/namespaces/$/cronjobs",
    kind: "CronJob",
    fine: {
      spec: {
        schedule: "* * * * *",
        jobTemplate: {
          spec: { template: { spec: { restartPolicy: "Never", containers: [{ name: "c", image: "i" }] } } },
        },
      },
    },
    mistakes: {
      "a zone in the schedule": { spec: { schedule: "TZ=UTC * * * * *" } },
      "an older zone in the schedule": { spec: { schedule: "CRON_TZ=UTC * * * * *" } },
      "a zone with TZ": { spec: { timeZone: "Etc/UTC" } },
    },
  },
  {
    path: "/apis/batch/v1/namespaces/$/jobs",
    kind: "Job",
    fine: { spec: { template: { spec: { restartPolicy: "Never", containers: [{ name: "c", image: "i" }] } } } },
    mistakes: {
      large: { spec: { completionMode: "Indexed", completions: 100001, parallelism: 10001 } },
      "large and open": { spec: { completions: 100001, parallelism: 10001 } },
    },
  },
  ...["ValidatingWebhookConfiguration", "MutatingWebhookConfiguration"].map((kind) => ({
    path: `/apis/admissionregistration.k8s.io/v1/${kind.toLowerCase()}s`,
    kind,
    fine: { webhooks: [] },
    mistakes: { "a reserved name": { metadata: { name: "x.static.k8s.io" } } },
  })),
];

function merged(one: unknown, other: unknown): unknown {
  if (!isFields(one) || !isFields(other)) return other;
  const names = new Set([...Object.keys(one), ...Object.keys(other)]);
  return Object.fromEntries(
    [...names].map((name) => [name, name in other ? merged(one[name], other[name]) : one[name]]),
  );
}

function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

async function warningsOf({ path: form, fine, mistakes, status = {} }: Questionable, probe: Probe): Promise<void> {
  await probe.createNamespace();
  const path = form.replace("$", probe.namespace);
  const named = (name: string, fields: Fields): unknown => merged(merged({ metadata: { name } }, fine), fields);
  const merge = { "content-type": "application/merge-patch+json" };
  await probe.quietly("POST", path, named("kept", {}));
  for (const [label, mistake] of Object.entries(mistakes)) {
    await probe.send(`create with ${label}`, "POST", `${path}?dryRun=All`, { body: named("one", mistake) });
    await probe.send(`patch with ${label}`, "PATCH", `${path}/kept?dryRun=All`, { headers: merge, body: mistake });
    await probe.quietly("POST", path, named("before", mistake));
    const labelled = { metadata: { labels: { x: "y" } } };
    await probe.send(`label one with ${label}`, "PATCH", `${path}/before?dryRun=All`, {
      headers: merge,
      body: labelled,
    });
    await probe.quietly("DELETE", `${path}/before?gracePeriodSeconds=0`);
  }
  if (Object.keys(status).length > 0)
    await probe.quietly(
      "POST",
      path,
      named("shown", path.endsWith("services") ? { spec: { type: "LoadBalancer" } } : {}),
    );
  for (const [label, fields] of Object.entries(status))
    await probe.send(`status with ${label}`, "PATCH", `${path}/shown/status?dryRun=All`, {
      headers: merge,
      body: fields,
    });
  await probe.quietly("DELETE", `${path}/kept?gracePeriodSeconds=0`);
  await probe.quietly("DELETE", `${path}/shown?gracePeriodSeconds=0`);
}

export const otherWarnings: readonly Family[] = questionable.map((each) => ({
  name: `warnings of ${each.kind}s`,
  run: (probe) => warningsOf(each, probe),
}));
