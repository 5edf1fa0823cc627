/** Questionable pods and pod templates that are stored anyway: each mistake alone and together with others. */
import { isChosen } from "../sampling.ts";
import type { Family, Probe } from "./family.ts";

type Fields = Readonly<Record<string, unknown>>;

interface PodPart {
  readonly metadata?: Fields;
  readonly spec: Fields;
}

const container = { name: "main", image: "example.test/main" };
const other = { name: "other", image: "example.test/other" };
const term = { topologyKey: "a" };
const required = "requiredDuringSchedulingIgnoredDuringExecution";
const preferred = "preferredDuringSchedulingIgnoredDuringExecution";
const seccomp = "container.seccomp.security.alpha.kubernetes.io";
const appArmor = "container.apparmor.security.beta.kubernetes.io";

/** Mistakes in the first container. */
const containers: readonly Fields[] = [
  { resources: { limits: { memory: "1500m", "ephemeral-storage": "1.5" }, requests: { memory: "1m" } } },
  ...[
    ["1", "2"],
    ["1", "$(A):2"],
    ["1", "1"],
  ].map((values) => ({ env: values.map((value) => ({ name: "A", value })) })),
  ...[
    [{ containerPort: 80 }, { containerPort: 80 }],
    [{ containerPort: 80 }, { containerPort: 80, protocol: "UDP" }],
    [{ containerPort: 80, hostPort: 80 }, { containerPort: 80 }],
    [{ containerPort: 80, hostIP: "10.0.0.1" }],
    [
      { containerPort: 80, hostPort: 90 },
      { containerPort: 80, hostPort: 90, hostIP: "10.0.0.1" },
    ],
  ].map((ports) => ({ ports })),
];

/** Mistakes in the only volume. */
const volumes: readonly Fields[] = [
  { gitRepo: { repository: "x" } },
  { glusterfs: { endpoints: "e", path: "p" } },
  { cephfs: { monitors: ["m"] } },
  { rbd: { monitors: ["m"], image: "i" } },
  {
    ephemeral: {
      volumeClaimTemplate: { spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1500m" } } } },
    },
  },
  { configMap: { name: "c", items: ["a", "a/b", "c", "c"].map((path, index) => ({ key: `k${index}`, path })) } },
  { projected: { sources: [{}, { configMap: { name: "c" } }] } },
  {
    projected: {
      sources: [
        { configMap: { name: "c", items: [{ key: "k", path: "a" }] } },
        { secret: { name: "s", items: [{ key: "k", path: "a" }] } },
      ],
    },
  },
];

/** Mistakes in the pod's spec. */
const specs: readonly Fields[] = [
  {},
  ...["beta.kubernetes.io/arch", "failure-domain.beta.kubernetes.io/zone", "node-role.kubernetes.io/master"].map(
    (label) => ({ nodeSelector: { [label]: "x" } }),
  ),
  {
    topologySpreadConstraints: [
      { maxSkew: 1, topologyKey: "beta.kubernetes.io/os", whenUnsatisfiable: "DoNotSchedule" },
    ],
  },
  {
    affinity: {
      nodeAffinity: {
        [required]: {
          nodeSelectorTerms: [{ matchExpressions: [{ key: "beta.kubernetes.io/arch", operator: "Exists" }] }],
        },
        [preferred]: [
          { weight: 2, preference: { matchExpressions: [{ key: "x", operator: "In", values: ["-", "a b"] }] } },
        ],
      },
    },
  },
  {
    affinity: {
      podAffinity: { [required]: [term], [preferred]: [{ weight: 1, podAffinityTerm: term }] },
      podAntiAffinity: { [required]: [{ ...term, labelSelector: {} }] },
    },
  },
  { hostAliases: [{ ip: "10.0.0.1", hostnames: ["a"] }, { ip: "10.0.0.1", hostnames: ["b"] }, { ip: "2001:DB8::1" }] },
  { imagePullSecrets: [{ name: "a" }, { name: "a" }, { name: "" }, {}] },
  { dnsPolicy: "None", dnsConfig: { nameservers: ["2001:0db8::1", "1.2.3.4"] } },
  { initContainers: [{ ...other, env: [{ name: "A" }, { name: "A" }] }] },
  { initContainers: [{ ...other, restartPolicy: "Always", ports: [{ name: "http", containerPort: 81 }] }] },
  { terminationGracePeriodSeconds: -1 },
  { overhead: { memory: "1.5" } },
  ...containers.map((fields) => ({ containers: [{ ...container, ...fields }] })),
  ...volumes.map((source) => ({ volumes: [{ name: "v", ...source }] })),
];

const annotations: Readonly<Record<string, string>> = {
  "scheduler.alpha.kubernetes.io/critical-pod": "",
  "security.alpha.kubernetes.io/sysctls": "a=b",
  "seccomp.security.alpha.kubernetes.io/pod": "runtime/default",
  [`${seccomp}/main`]: "unconfined",
  [`${seccomp}/nobody`]: "unconfined",
  [`${appArmor}/main`]: "localhost/x",
  [`${appArmor}/nobody`]: "nope",
};

const parts: readonly PodPart[] = [
  ...specs.map((spec) => ({ spec: { containers: [container], ...spec } })),
  ...Object.entries(annotations).map(([name, value]) => ({
    metadata: { annotations: { [name]: value } },
    spec: { containers: [container] },
  })),
  {
    metadata: { annotations },
    spec: {
      containers: [{ ...container, env: [{ name: "A" }, { name: "A" }] }],
      volumes: [{ name: "g", ...volumes[0] }],
      imagePullSecrets: [{}],
      terminationGracePeriodSeconds: -5,
    },
  },
];

interface Owner {
  readonly path: string;
  readonly object: (part: PodPart) => Fields;
}

function templateOf({ metadata, spec }: PodPart, more: Fields = {}): Fields {
  return { metadata: { labels: { app: "a" }, ...metadata }, spec: { ...spec, ...more } };
}

function workload(plural: string, more: Fields = {}): Owner {
  const selector = { matchLabels: { app: "a" } };
  const object = (part: PodPart): Fields => ({ spec: { selector, template: templateOf(part), ...more } });
  return { path: `/apis/apps/v1/namespaces/$/${plural}`, object };
}

const owners: Readonly<Record<string, Owner>> = {
  Pod: { path: "/api/v1/namespaces/$/pods", object: (part) => ({ ...part }) },
  PodTemplate: { path: "/api/v1/namespaces/$/podtemplates", object: (part) => ({ template: templateOf(part) }) },
  Deployment: workload("deployments"),
  DaemonSet: workload("daemonsets"),
  StatefulSet: workload("statefulsets", { serviceName: "s" }),
  CronJob: {
    path: "/apis/batch/v1/namespaces/$/cronjobs",
    object: (part) => {
      const template = templateOf(part, { restartPolicy: "Never" });
      return { spec: { schedule: "* * * * *", jobTemplate: { spec: { template } } } };
    },
  },
};

async function warningsOf({ path: form, object }: Owner, probe: Probe): Promise<void> {
  await probe.createNamespace();
  const path = form.replace("$", probe.namespace);
  const withName = (name: string, part: PodPart): Fields => {
    const fields = object(part);
    return { ...fields, metadata: { name, ...(fields["metadata"] as Fields | undefined) } };
  };
  const [plain, all] = [parts[0]!, parts.at(-1)!];
  await probe.quietly("POST", path, withName("stored", plain));
  for (const part of parts) {
    const label = JSON.stringify(part).slice(0, 160);
    await probe.post(`create ${label}`, `${path}?dryRun=All`, withName("one", part));
    if (!isChosen(probe.namespace, label, 0.5)) continue;
    await probe.put(`put ${label}`, `${path}/stored?dryRun=All`, withName("stored", part));
    await probe.patch(`patch ${label}`, `${path}/stored?dryRun=All`, object(part));
  }
  for (const name of ["a.b", "a".repeat(64), "Not Valid"])
    await probe.session.post(`create ${name}`, `${path}?dryRun=All`, withName(name, all));
  await probe.quietly("POST", path, withName("questionable", all));
  await probe.session.patch("label", `${path}/questionable?dryRun=All`, { metadata: { labels: { x: "y" } } });
}

export const podWarnings: readonly Family[] = Object.entries(owners).map(([kind, owner]) => ({
  name: `warnings of ${kind}`,
  share: kind === "Pod" ? 1 : 0.1,
  run: (probe) => warningsOf(owner, probe),
}));
