/** Questionable pods and pod templates that are stored anyway: each mistake alone and together with others. */
import type { Family, Probe } from "./family.ts";

type Fields = Readonly<Record<string, unknown>>;

interface PodPart {
  readonly metadata?: Fields;
  readonly spec?: Fields;
}

const container = { name: "main", image: "example.test/main" };
const other = { name: "other", image: "example.test/other" };
const labelSelector = { matchLabels: { a: "b" } };
const oldLabels = [
  "beta.kubernetes.io/arch",
  "beta.kubernetes.io/os",
  "failure-domain.beta.kubernetes.io/region",
  "failure-domain.beta.kubernetes.io/zone",
  "beta.kubernetes.io/instance-type",
  "app.kubernetes.io/created-by",
  "node-role.kubernetes.io/master",
];

function withContainer(fields: Fields): PodPart {
  return { spec: { containers: [{ ...container, ...fields }] } };
}

function withVolume(source: Fields): PodPart {
  return { spec: { containers: [container], volumes: [{ name: "v", ...source }] } };
}

function withPorts(...ports: readonly Fields[]): PodPart {
  return withContainer({ ports });
}

function withAnnotation(name: string, value: string, spec: Fields = {}): PodPart {
  return { metadata: { annotations: { [name]: value } }, spec: { containers: [container, other], ...spec } };
}

function withItems(paths: readonly string[]): readonly Fields[] {
  return paths.map((path, index) => ({ key: `k${index}`, path }));
}

function withProjected(...sources: readonly Fields[]): PodPart {
  return withVolume({ projected: { sources } });
}

function withEnv(...env: readonly Fields[]): PodPart {
  return withContainer({ env });
}

function withAffinity(affinity: Fields): PodPart {
  return { spec: { containers: [container], affinity } };
}

const required = "requiredDuringSchedulingIgnoredDuringExecution";
const preferred = "preferredDuringSchedulingIgnoredDuringExecution";
const seccomp = "container.seccomp.security.alpha.kubernetes.io";
const appArmor = "container.apparmor.security.beta.kubernetes.io";

const parts: Readonly<Record<string, PodPart>> = {
  nothing: { spec: { containers: [container] } },
  ...Object.fromEntries(
    oldLabels.map((label) => [
      `node selector ${label}`,
      { spec: { containers: [container], nodeSelector: { [label]: "x" } } },
    ]),
  ),
  ...Object.fromEntries(
    oldLabels.slice(0, 4).map((topologyKey) => [
      `spread over ${topologyKey}`,
      {
        spec: {
          containers: [container],
          topologySpreadConstraints: [{ maxSkew: 1, topologyKey, whenUnsatisfiable: "DoNotSchedule" }],
        },
      },
    ]),
  ),
  "node affinity": withAffinity({
    nodeAffinity: {
      [required]: {
        nodeSelectorTerms: [{ matchExpressions: [{ key: oldLabels[0], operator: "Exists" }] }],
      },
      [preferred]: [
        { weight: 1, preference: { matchExpressions: [{ key: oldLabels[2], operator: "In", values: ["a b", "c"] }] } },
        { weight: 2, preference: { matchExpressions: [{ key: "x", operator: "In", values: ["-"] }] } },
      ],
    },
  }),
  "affinity to nothing": withAffinity({
    podAffinity: {
      [required]: [{ topologyKey: "a" }, { topologyKey: "b", labelSelector }],
      [preferred]: [{ weight: 1, podAffinityTerm: { topologyKey: "c" } }],
    },
    podAntiAffinity: {
      [required]: [{ topologyKey: "a", labelSelector: {} }],
      [preferred]: [{ weight: 1, podAffinityTerm: { topologyKey: "c", labelSelector: null } }],
    },
  }),
  "critical annotation": withAnnotation("scheduler.alpha.kubernetes.io/critical-pod", ""),
  "sysctls annotation": withAnnotation("security.alpha.kubernetes.io/sysctls", "a=b"),
  "unsafe sysctls annotation": withAnnotation("security.alpha.kubernetes.io/unsafe-sysctls", "a=b"),
  "seccomp annotation": withAnnotation("seccomp.security.alpha.kubernetes.io/pod", "runtime/default"),
  "seccomp annotation with the field": withAnnotation("seccomp.security.alpha.kubernetes.io/pod", "runtime/default", {
    securityContext: { seccompProfile: { type: "RuntimeDefault" } },
  }),
  "container seccomp annotation": withAnnotation(`${seccomp}/other`, "unconfined"),
  "seccomp annotation of nobody": withAnnotation(`${seccomp}/nobody`, "unconfined"),
  ...Object.fromEntries(
    ["runtime/default", "unconfined", "localhost/x", "localhost/", "nope"].map((value) => [
      `app armor ${value}`,
      withAnnotation(`${appArmor}/main`, value),
    ]),
  ),
  "app armor as the pod's": withAnnotation(`${appArmor}/main`, "runtime/default", {
    securityContext: { appArmorProfile: { type: "RuntimeDefault" } },
  }),
  "app armor beside the field": withAnnotation(`${appArmor}/main`, "runtime/default", {
    containers: [{ ...container, securityContext: { appArmorProfile: { type: "RuntimeDefault" } } }],
  }),
  "git repo": withVolume({ gitRepo: { repository: "x" } }),
  flocker: withVolume({ flocker: { datasetName: "x" } }),
  quobyte: withVolume({ quobyte: { registry: "a:1", volume: "x" } }),
  storageos: withVolume({ storageos: { volumeName: "x" } }),
  glusterfs: withVolume({ glusterfs: { endpoints: "e", path: "p" } }),
  cephfs: withVolume({ cephfs: { monitors: ["m"] } }),
  rbd: withVolume({ rbd: { monitors: ["m"], image: "i" } }),
  "scale io": withVolume({ scaleIO: { gateway: "g", system: "s", volumeName: "v", secretRef: { name: "s" } } }),
  photon: withVolume({ photonPersistentDisk: { pdID: "x" } }),
  "ephemeral fractions": withVolume({
    ephemeral: {
      volumeClaimTemplate: {
        spec: {
          accessModes: ["ReadWriteOnce"],
          resources: { requests: { storage: "1500m" }, limits: { storage: "2.5" } },
        },
      },
    },
  }),
  "config map paths": withVolume({ configMap: { name: "c", items: withItems(["a", "a/b", "c", "c", "d/", "d"]) } }),
  "secret paths": withVolume({ secret: { secretName: "s", items: withItems(["a/b", "a", "ab"]) } }),
  "downward paths": withVolume({
    downwardAPI: { items: ["x", "x"].map((path) => ({ path, fieldRef: { fieldPath: "metadata.name" } })) },
  }),
  "projected nothing": withProjected({}, { configMap: { name: "c" } }),
  "projected paths": withProjected(
    { configMap: { name: "c", items: withItems(["a"]) } },
    { secret: { name: "s", items: withItems(["a", "b"]) } },
    { serviceAccountToken: { path: "b/c" } },
    { downwardAPI: { items: [{ path: "b", fieldRef: { fieldPath: "metadata.name" } }] } },
  ),
  "projected bundle": withProjected(
    { clusterTrustBundle: { name: "x", path: "a" } },
    { clusterTrustBundle: { signerName: "example.test/s", labelSelector: {}, path: "a" } },
  ),
  "host aliases": {
    spec: {
      containers: [container],
      hostAliases: [{ ip: "10.0.0.1", hostnames: ["a"] }, { ip: "10.0.0.1", hostnames: ["b"] }, { ip: "2001:DB8::1" }],
    },
  },
  "mapped host alias": { spec: { containers: [container], hostAliases: [{ ip: "::ffff:1.2.3.4", hostnames: ["a"] }] } },
  "pull secrets": {
    spec: { containers: [container], imagePullSecrets: [{ name: "a" }, { name: "a" }, { name: "" }, {}] },
  },
  "name servers": {
    spec: { containers: [container], dnsPolicy: "None", dnsConfig: { nameservers: ["2001:0db8::1", "1.2.3.4"] } },
  },
  "fractional memory": withContainer({
    resources: { limits: { memory: "1500m", "ephemeral-storage": "1.5" }, requests: { memory: "1m" } },
  }),
  "whole memory": withContainer({ resources: { limits: { memory: "1500000m" }, requests: { memory: "1Gi" } } }),
  "hidden variable": withEnv({ name: "A", value: "1" }, { name: "A", value: "2" }),
  "extended variable": withEnv({ name: "A", value: "1" }, { name: "A", value: "$(A):2" }),
  "same variable": withEnv({ name: "A", value: "1" }, { name: "A", value: "$(A)" }),
  "replaced variable": withEnv(
    { name: "A", value: "1" },
    { name: "A", valueFrom: { fieldRef: { fieldPath: "metadata.name" } } },
  ),
  "variables of init containers": {
    spec: {
      containers: [container],
      initContainers: [{ ...other, env: [{ name: "A" }, { name: "A" }, { name: "A" }] }],
    },
  },
  "same ports": withPorts({ containerPort: 80 }, { containerPort: 80 }),
  "same ports of two protocols": withPorts({ containerPort: 80 }, { containerPort: 80, protocol: "UDP" }),
  "host port and none": withPorts({ containerPort: 80, hostPort: 80 }, { containerPort: 80 }),
  "host address without port": withPorts({ containerPort: 80, hostIP: "10.0.0.1" }),
  "named host address without port": withPorts({
    name: "http",
    containerPort: 80,
    hostIP: "10.0.0.1",
    protocol: "SCTP",
  }),
  "ambiguous host ports": withPorts(
    { containerPort: 80, hostPort: 90 },
    { containerPort: 80, hostPort: 90, hostIP: "10.0.0.1" },
  ),
  "two host addresses": withPorts(
    { containerPort: 80, hostPort: 90, hostIP: "10.0.0.2" },
    { containerPort: 80, hostPort: 90, hostIP: "10.0.0.1" },
  ),
  "ports of two containers": {
    spec: {
      containers: [
        { ...container, ports: [{ name: "http", containerPort: 80 }] },
        { ...other, ports: [{ name: "http", containerPort: 80 }] },
      ],
    },
  },
  "ports of a sidecar": {
    spec: {
      initContainers: [{ ...other, restartPolicy: "Always", ports: [{ name: "http", containerPort: 81 }] }],
      containers: [{ ...container, ports: [{ name: "http", containerPort: 80 }] }],
    },
  },
  "negative grace": { spec: { containers: [container], terminationGracePeriodSeconds: -1 } },
  overhead: { spec: { containers: [container], overhead: { memory: "1.5" } } },
  many: {
    metadata: { annotations: { "scheduler.alpha.kubernetes.io/critical-pod": "", [`${seccomp}/main`]: "x" } },
    spec: {
      containers: [
        { ...container, env: [{ name: "A" }, { name: "A" }], ports: [{ containerPort: 1 }, { containerPort: 1 }] },
      ],
      nodeSelector: { "beta.kubernetes.io/os": "linux" },
      volumes: [{ name: "g", gitRepo: { repository: "x" } }],
      imagePullSecrets: [{}],
      terminationGracePeriodSeconds: -5,
    },
  },
};

interface Template {
  readonly path: string;
  readonly object: (part: PodPart) => Fields;
}

const selector = { matchLabels: { app: "a" } };

function templateOf({ metadata, spec }: PodPart, more: Fields = {}): Fields {
  return { metadata: { labels: { app: "a" }, ...metadata }, spec: { ...spec, ...more } };
}

const owners: Readonly<Record<string, Template>> = {
  Pod: { path: "/api/v1/namespaces/$/pods", object: ({ metadata, spec }) => ({ metadata, spec }) },
  PodTemplate: { path: "/api/v1/namespaces/$/podtemplates", object: (part) => ({ template: templateOf(part) }) },
  ReplicationController: {
    path: "/api/v1/namespaces/$/replicationcontrollers",
    object: (part) => ({ spec: { template: templateOf(part) } }),
  },
  Deployment: {
    path: "/apis/apps/v1/namespaces/$/deployments",
    object: (part) => ({ spec: { selector, template: templateOf(part) } }),
  },
  DaemonSet: {
    path: "/apis/apps/v1/namespaces/$/daemonsets",
    object: (part) => ({ spec: { selector, template: templateOf(part) } }),
  },
  ReplicaSet: {
    path: "/apis/apps/v1/namespaces/$/replicasets",
    object: (part) => ({ spec: { selector, template: templateOf(part) } }),
  },
  StatefulSet: {
    path: "/apis/apps/v1/namespaces/$/statefulsets",
    object: (part) => ({ spec: { selector, serviceName: "s", template: templateOf(part) } }),
  },
  Job: {
    path: "/apis/batch/v1/namespaces/$/jobs",
    object: (part) => ({ spec: { template: templateOf(part, { restartPolicy: "Never" }) } }),
  },
  CronJob: {
    path: "/apis/batch/v1/namespaces/$/cronjobs",
    object: (part) => ({
      spec: {
        schedule: "* * * * *",
        jobTemplate: { spec: { template: templateOf(part, { restartPolicy: "Never" }) } },
      },
    }),
  },
};

async function warningsOf(kind: string, { path: form, object }: Template, probe: Probe): Promise<void> {
  await probe.createNamespace();
  const path = form.replace("$", probe.namespace);
  const named = (name: string, part: PodPart): Fields => {
    const fields = object(part);
    return { ...fields, metadata: { name, ...(fields["metadata"] as Fields | undefined) } };
  };
  for (const [label, part] of Object.entries(parts))
    await probe.send(`create with ${label}`, "POST", `${path}?dryRun=All`, { body: named("one", part) });
  for (const name of ["a.b", "a.b.c", "a".repeat(64), "a-1"])
    await probe.send(`create ${name.slice(0, 20)}`, "POST", `${path}?dryRun=All`, {
      body: named(name, parts["nothing"]!),
    });
  const merge = { "content-type": "application/merge-patch+json" };
  const body = named("kept", parts["nothing"]!);
  await probe.quietly("POST", path, body);
  for (const [label, part] of Object.entries(parts)) {
    const changed = named("kept", part);
    if (!(await probe.send(`put with ${label}`, "PUT", `${path}/kept?dryRun=All`, { body: changed }))) continue;
    await probe.send(`patch with ${label}`, "PATCH", `${path}/kept?dryRun=All`, { headers: merge, body: object(part) });
  }
  const labelled = { metadata: { labels: { x: "y" } } };
  await probe.quietly("POST", path, named("questionable", parts["many"]!));
  await probe.send("label", "PATCH", `${path}/questionable?dryRun=All`, { headers: merge, body: labelled });
  await probe.send("create what is refused", "POST", path, {
    body: named("Not Valid", parts["many"]!),
  });
  await probe.send("apply", "PATCH", `${path}/applied?fieldManager=m&dryRun=All`, {
    headers: { "content-type": "application/apply-patch+yaml" },
    body: { apiVersion: versionOf(form), kind, ...named("applied", parts["negative grace"]!) },
  });
}

function versionOf(form: string): string {
  const [, , ...steps] = form.split("/namespaces")[0]!.split("/");
  return steps.join("/");
}

export const podWarnings: readonly Family[] = Object.entries(owners).map(([kind, template]) => ({
  name: `warnings of ${kind}`,
  run: (probe) => warningsOf(kind, template, probe),
}));
