/** Rules of kinds that few clients write: flow control, devices, ranges, slices, statuses, and versions that lose fields. */
import type { Call } from "../exchange.ts";
import type { Family, Probe } from "./family.ts";

const networking = "/apis/networking.k8s.io/v1";
const flow = "/apis/flowcontrol.apiserver.k8s.io/v1";
const merge = { "content-type": "application/merge-patch+json" };

interface Refused {
  readonly plural: string;
  /** The path in front of the plural; of a namespaced kind it ends before the namespace. */
  readonly root: string;
  readonly isNamespaced?: boolean;
  readonly bodies: readonly object[];
}

const template = { spec: { restartPolicy: "Never", containers: [{ name: "c", image: "i" }] } };
const request = (exactly: object): object => ({
  spec: { devices: { requests: [{ name: "r", exactly: { deviceClassName: "x", ...exactly } }] } },
});
const devices = (given: object): object => ({ spec: { devices: { requests: [], ...given } } });
const resourceRule = { verbs: ["*"], apiGroups: ["*"], resources: ["*"], namespaces: ["*"] };
const rule = (given: object, subject: object = { kind: "User", user: { name: "u" } }): object => ({
  spec: {
    priorityLevelConfiguration: { name: "workload-low" },
    rules: [{ subjects: [subject], resourceRules: [{ ...resourceRule, ...given }] }],
  },
});
const paths = (nonResourceURLs: readonly string[]): object => ({
  spec: {
    priorityLevelConfiguration: { name: "workload-low" },
    rules: [
      { subjects: [{ kind: "Group", group: { name: "g" } }], nonResourceRules: [{ verbs: ["get"], nonResourceURLs }] },
    ],
  },
});
const limited = (given: object): object => ({
  spec: { type: "Limited", limited: { limitResponse: { type: "Reject" }, ...given } },
});
const cidrs = (...given: readonly string[]): object => ({ spec: { cidrs: given } });
const address = (name: string): object => ({
  metadata: { name },
  spec: { parentRef: { resource: "services", namespace: "n", name: "s" } },
});
const backend = (resource: object): object => ({ spec: { defaultBackend: { resource } } });
const pod = (spec: object): object => ({ spec: { containers: [{ name: "c", image: "i" }], ...spec } });
const windows = (spec: object): object => pod({ os: { name: "windows" }, ...spec });
const cron = (schedule: string, jobSpec: object = {}): object => ({
  spec: { schedule, jobTemplate: { spec: { template, ...jobSpec } } },
});
const binding = (matchResources: object): object => ({
  spec: { policyName: "p", validationActions: ["Deny"], matchResources },
});
const resource = "/apis/resource.k8s.io/v1";

const refusals: readonly Refused[] = [
  {
    plural: "flowschemas",
    root: flow,
    bodies: [
      rule({ apiGroups: ["*", "a"] }),
      rule({ resources: ["*", "a"] }),
      rule({ namespaces: ["*", "a"] }),
      rule({ namespaces: [] }),
      rule({}, { kind: "ServiceAccount", serviceAccount: { name: "", namespace: "" } }),
      rule({}, { kind: "ServiceAccount", serviceAccount: { name: "*", namespace: "A" } }),
      { spec: { ...(rule({}) as { spec: object }).spec, matchingPrecedence: 1 } },
      ...["/", "/a b", "/a//b", "/a*", "/a/*", "a", ""].map((url) => paths([url])),
      paths(["*", "/a"]),
    ],
  },
  {
    plural: "prioritylevelconfigurations",
    root: flow,
    bodies: [
      limited({ lendablePercent: 101, borrowingLimitPercent: -1 }),
      limited({ limitResponse: { type: "Reject", queuing: {} }, lendablePercent: -1 }),
      { spec: { type: "Exempt", exempt: { nominalConcurrencyShares: -1, lendablePercent: 200 } } },
    ],
  },
  {
    plural: "resourceclaims",
    root: resource,
    isNamespaced: true,
    bodies: [
      request({ allocationMode: "X" }),
      request({ count: -1 }),
      request({ allocationMode: "All", count: 2 }),
      request({ selectors: [{}] }),
      request({ selectors: [{ cel: { expression: "device.driver ==" } }] }),
      request({ tolerations: [{ operator: "X", effect: "Y" }, { operator: "Exists", value: "v" }, { key: "a b" }] }),
      devices({ requests: [{ name: "r", firstAvailable: [{ name: "S", deviceClassName: "" }] }] }),
      devices({ constraints: [{ requests: ["q"], matchAttribute: "a" }] }),
      devices({ constraints: [{ distinctAttribute: "a.b/c" }] }),
      devices({ config: [{ requests: ["q", "q"], opaque: { driver: "D", parameters: [1] } }] }),
    ],
  },
  {
    plural: "resourceslices",
    root: resource,
    bodies: [
      {
        spec: {
          driver: "d.e",
          nodeName: "n",
          pool: { name: "p", generation: 1, resourceSliceCount: 1 },
          devices: [{ name: "g", attributes: { "bad key": { int: 1 } } }],
        },
      },
    ],
  },
  {
    plural: "servicecidrs",
    root: networking,
    bodies: [
      cidrs("10.1.0.1/24"),
      cidrs("2001:DB8::/64"),
      cidrs("010.1.0.0/24"),
      cidrs("10.1.0.0/24", "10.2.0.0/24"),
      cidrs("x", "y"),
      cidrs("10.1.0.0/24", "10.2.0.0/24", "10.3.0.0/24"),
    ],
  },
  {
    plural: "ipaddresses",
    root: networking,
    bodies: [address("010.0.0.1"), address("x"), address("2001:db8::0"), address("::ffff:1.2.3.4")],
  },
  {
    plural: "ingresses",
    root: networking,
    isNamespaced: true,
    bodies: [
      backend({ kind: "", name: "" }),
      backend({ apiGroup: "A", kind: "a/b", name: "c%d" }),
      {
        metadata: { name: "x", annotations: { "kubernetes.io/ingress.class": "one" } },
        spec: { ingressClassName: "other", defaultBackend: { service: { name: "s", port: { number: 1 } } } },
      },
    ],
  },
  {
    plural: "csistoragecapacities",
    root: "/apis/storage.k8s.io/v1",
    isNamespaced: true,
    bodies: [{ capacity: "-1", maximumVolumeSize: "-2", nodeTopology: { matchLabels: { "a b": "" } } }],
  },
  {
    plural: "horizontalpodautoscalers",
    root: "/apis/autoscaling/v2",
    isNamespaced: true,
    bodies: [{ spec: { maxReplicas: 1, scaleTargetRef: { apiVersion: "a/b/c", kind: "K", name: "n" } } }],
  },
  {
    plural: "cronjobs",
    root: "/apis/batch/v1",
    isNamespaced: true,
    bodies: [
      cron("CRON_TZ=No/Where * * * * *"),
      cron("TZ=UTC * * * * *"),
      cron("@daily", { selector: { matchLabels: { a: "b" } }, manualSelector: true }),
    ],
  },
  {
    plural: "endpointslices",
    root: "/apis/discovery.k8s.io/v1",
    isNamespaced: true,
    bodies: [{ addressType: "IPv4", endpoints: [{ addresses: ["10.0.0.1"], deprecatedTopology: { a: "b" } }] }],
  },
  {
    plural: "validatingadmissionpolicybindings",
    root: "/apis/admissionregistration.k8s.io/v1",
    bodies: [
      binding({ namespaceSelector: { matchExpressions: [{ key: "a", operator: "X" }] } }),
      binding({ matchPolicy: "X", objectSelector: { matchLabels: { "a b": "" } } }),
      binding({ resourceRules: [{ apiGroups: ["*", "a"], apiVersions: [], operations: ["X"], resources: ["a/b/c"] }] }),
    ],
  },
  {
    plural: "pods",
    root: "/api/v1",
    isNamespaced: true,
    bodies: [
      windows({ hostNetwork: true, securityContext: { windowsOptions: { hostProcess: true } } }),
      windows({
        hostPID: true,
        securityContext: { runAsUser: 1, fsGroup: 1, appArmorProfile: { type: "Unconfined" } },
      }),
      pod({ tolerations: [{ key: "a", operator: "Lt", value: "5" }] }),
      { apiVersion: "meta.k8s.io/v1", kind: "Status" },
    ],
  },
];

async function refusalsOfKinds(probe: Probe): Promise<void> {
  await probe.createNamespace();
  for (const { plural, root, isNamespaced, bodies } of refusals) {
    const where = isNamespaced ? `${root}/namespaces/${probe.namespace}/${plural}` : `${root}/${plural}`;
    for (const [index, given] of bodies.entries()) {
      const body = { metadata: { name: "x" }, ...given };
      await probe.send(`${plural} ${index}`, "POST", `${where}?dryRun=All`, { body });
    }
  }
}

async function fixedObjects(probe: Probe): Promise<void> {
  const patch = async (label: string, path: string, body: object): Promise<void> =>
    void (await probe.send(label, "PATCH", `${path}?dryRun=All`, { body, headers: merge }));
  for (const name of ["exempt", "catch-all"]) {
    await patch(`schema ${name}`, `${flow}/flowschemas/${name}`, { spec: { matchingPrecedence: 5 } });
    const level = `${flow}/prioritylevelconfigurations/${name}`;
    await patch(`level ${name} type`, level, { spec: { type: name === "exempt" ? "Limited" : "Exempt" } });
    await patch(`level ${name} exempt`, level, { spec: { exempt: { nominalConcurrencyShares: 3 } } });
  }
  await probe.send("class", "DELETE", "/apis/scheduling.k8s.io/v1/priorityclasses/system-node-critical?dryRun=All");
}

async function statuses(probe: Probe): Promise<void> {
  await probe.createNamespace();
  const core = `/api/v1/namespaces/${probe.namespace}`;
  const patch = async (label: string, path: string, body: object): Promise<void> =>
    void (await probe.send(label, "PATCH", path, { body, headers: merge } satisfies Partial<Call>));
  await probe.quietly("POST", `${core}/resourcequotas`, { metadata: { name: "q" }, spec: { hard: { secrets: "1" } } });
  await patch("quota", `${core}/resourcequotas/q/status`, { status: { used: { secrets: "-1" } } });
  const node = `/api/v1/nodes/${probe.namespace}`;
  await probe.quietly("POST", "/api/v1/nodes", { metadata: { name: probe.namespace } });
  await patch("node capacity", `${node}/status`, { status: { capacity: { cpu: "-1" } } });
  const own = { type: "Hostname", address: "h" };
  await patch("node addresses", `${node}/status`, { status: { addresses: [own, own] } });
  await probe.quietly("DELETE", node);
  const ports = [{ port: 80 }];
  await probe.quietly("POST", `${core}/services`, { metadata: { name: "s" }, spec: { type: "LoadBalancer", ports } });
  await probe.merge(`${core}/services/s/status`, { status: { loadBalancer: { ingress: [{ ip: "1.2.3.4" }] } } });
  await patch("service", `${core}/services/s`, { spec: { type: "ClusterIP" } });
  const jobs = `/apis/batch/v1/namespaces/${probe.namespace}/jobs`;
  await probe.quietly("POST", jobs, { metadata: { name: "j" }, spec: { template } });
  const lastTransitionTime = "2024-01-01T00:00:00Z";
  const conditions = ["SuccessCriteriaMet", "Complete"].map((type) => ({ type, status: "True", lastTransitionTime }));
  const [startTime, completionTime] = [lastTransitionTime, "2024-01-01T00:00:10Z"];
  await probe.merge(`${jobs}/j/status`, { status: { startTime, completionTime, conditions } });
  await patch("job", `${jobs}/j/status`, { status: { startTime: "2025-01-01T00:00:00Z" } });
  await probe.send("namespace by name", "GET", "/api/v1/namespaces?fieldSelector=name%3Ddefault");
}

async function lossyVersions(probe: Probe): Promise<void> {
  const group = `${probe.namespace}.example.test`;
  const string = { type: "string" };
  const schema = (properties: object): object => ({
    openAPIV3Schema: { type: "object", properties: { spec: { type: "object", properties } } },
  });
  const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
  const version = { served: true, storage: false };
  await probe.quietly("POST", definitions, {
    metadata: { name: `widgets.${group}` },
    spec: {
      group,
      scope: "Cluster",
      names: { plural: "widgets", kind: "Widget" },
      versions: [
        { ...version, name: "v1alpha1", schema: schema({ a: string, b: { ...string, default: "bb" } }) },
        { ...version, name: "v1", storage: true, schema: schema({ a: string }) },
      ],
    },
  });
  await probe.session.waitFor(`/apis/${group}/v1/widgets`, ({ kind }) => kind === "WidgetList");
  const path = (name: string): string => `/apis/${group}/${name}/widgets`;
  const widget = (name: string, spec: object, at: string): object => ({
    apiVersion: `${group}/${name}`,
    kind: "Widget",
    metadata: { name: at },
    spec,
  });
  const apply = { "content-type": "application/apply-patch+yaml" };
  for (const [index, name] of ["v1", "v1alpha1"].entries()) {
    const at = `w${index}`;
    await probe.quietly("POST", path(name), widget(name, { a: "1" }, at));
    await probe.send(`read ${name}`, "GET", `${path("v1alpha1")}/${at}`);
    await probe.send(`apply beside ${name}`, "PATCH", `${path("v1alpha1")}/${at}?fieldManager=m`, {
      headers: apply,
      body: widget("v1alpha1", { b: "2" }, at),
    });
    const patch = { headers: merge, body: { spec: { b: "3" } } };
    await probe.send(`patch beside ${name}`, "PATCH", `${path("v1alpha1")}/${at}`, patch);
    await probe.send(`read ${name} after it`, "GET", `${path("v1")}/${at}`);
  }
  await probe.quietly("DELETE", `${definitions}/widgets.${group}`);
}

export const refusalsOfRareKinds: readonly Family[] = [
  { name: "refusals of kinds", run: refusalsOfKinds },
  { name: "refusals of fixed objects", run: fixedObjects },
  { name: "refusals of statuses", run: statuses },
  { name: "versions that lose fields", run: lossyVersions },
];
