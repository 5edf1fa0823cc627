/** What admission and the rules of single kinds do: quotas, limits, priorities, accounts, addresses, immutability, policies. */
import { type Family, pairs, type Probe } from "./family.ts";

const merge = { "content-type": "application/merge-patch+json" };
const dry = "?dryRun=All";

async function limits(probe: Probe): Promise<void> {
  await probe.createNamespace();
  const root = `/api/v1/namespaces/${probe.namespace}`;
  const limit = (type: string, fields: object): object => ({
    metadata: { name: "l" },
    spec: { limits: [{ type, ...fields }] },
  });
  const lists: Readonly<Record<string, object>> = {
    nothing: {},
    max: { max: { cpu: "1" } },
    min: { min: { cpu: "100m" } },
    "max below min": { max: { cpu: "1" }, min: { cpu: "2" } },
    "default above max": { max: { cpu: "1" }, default: { cpu: "2" } },
    "request above default": { default: { cpu: "1" }, defaultRequest: { cpu: "2" } },
    ratio: { maxLimitRequestRatio: { cpu: "0.5" } },
    "a ratio beyond": { max: { cpu: "1" }, min: { cpu: "1" }, maxLimitRequestRatio: { cpu: "2" } },
    storage: { max: { storage: "1Gi" } },
    odd: { max: { Nope_: "1", "a.b/c": "x" } },
    negative: { max: { cpu: "-1" } },
    fractions: { max: { memory: "0.5", cpu: "1u" } },
  };
  for (const [type, [label, fields]] of pairs(
    ["Container", "Pod", "PersistentVolumeClaim", "Nope", "a.b/C", ""],
    Object.entries(lists),
  ))
    await probe.send(`limit of ${type} with ${label}`, "POST", `${root}/limitranges${dry}`, {
      body: limit(type, fields),
    });
  await probe.quietly("POST", `${root}/limitranges`, {
    metadata: { name: "l" },
    spec: {
      limits: [
        {
          type: "Container",
          max: { cpu: "2", memory: "1Gi" },
          min: { cpu: "50m" },
          default: { cpu: "500m", memory: "128Mi" },
          defaultRequest: { cpu: "100m" },
          maxLimitRequestRatio: { cpu: "4" },
        },
        { type: "Pod", max: { cpu: "3" } },
        { type: "PersistentVolumeClaim", max: { storage: "5Gi" }, min: { storage: "1Gi" } },
      ],
    },
  });
  await probe.session.noticed(300);
  const resources: Readonly<Record<string, object>> = {
    nothing: {},
    requests: { requests: { cpu: "1" } },
    "small requests": { requests: { cpu: "10m" } },
    "large limits": { limits: { cpu: "4", memory: "2Gi" } },
    "a large ratio": { requests: { cpu: "100m" }, limits: { cpu: "1" } },
    "requests above limits": { requests: { cpu: "2" }, limits: { cpu: "1" } },
    "equal ones": { requests: { cpu: "2", memory: "1Gi" }, limits: { cpu: "2", memory: "1Gi" } },
    "other resources": { requests: { "a.b/c": "1" }, limits: { "a.b/c": "1" } },
    "unequal other resources": { requests: { "a.b/c": "1" }, limits: { "a.b/c": "2" } },
    "huge pages": { requests: { "hugepages-2Mi": "2Mi" } },
  };
  for (const [[label, given], count] of pairs(Object.entries(resources), [1, 2])) {
    const containers = Array.from({ length: count }, (_, index) => ({
      name: `c${index}`,
      image: "i",
      resources: given,
    }));
    await probe.send(`${count} with ${label}`, "POST", `${root}/pods${dry}`, {
      body: { metadata: { name: "p" }, spec: { containers } },
    });
    await probe.send(`first ${count} with ${label}`, "POST", `${root}/pods${dry}`, {
      body: { metadata: { name: "p" }, spec: { containers: [{ name: "m", image: "i" }], initContainers: containers } },
    });
    await probe.send(`whole ${count} with ${label}`, "POST", `${root}/pods${dry}`, {
      body: { metadata: { name: "p" }, spec: { containers: [{ name: "m", image: "i" }], resources: given } },
    });
  }
  for (const storage of ["500Mi", "1Gi", "5Gi", "6Gi"])
    await probe.send(`claim ${storage}`, "POST", `${root}/persistentvolumeclaims${dry}`, {
      body: { metadata: { name: "v" }, spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage } } } },
    });
}

async function immutables(probe: Probe): Promise<void> {
  await probe.createNamespace();
  const root = `/api/v1/namespaces/${probe.namespace}`;
  for (const [plural, data] of [
    ["configmaps", { a: "1" }],
    ["secrets", { a: "MQ==" }],
  ] as const) {
    await probe.quietly("POST", `${root}/${plural}`, { metadata: { name: "i" }, data, immutable: true });
    await probe.quietly("POST", `${root}/${plural}`, { metadata: { name: "m" }, data });
    for (const [name, [label, patch]] of pairs(
      ["i", "m"],
      Object.entries({
        data: { data: { a: "Mg==" } },
        more: { data: { b: "Mg==" } },
        "no data": { data: null },
        binary: { binaryData: { c: "Mg==" } },
        texts: { stringData: { d: "x" } },
        mutable: { immutable: false },
        nothing: { immutable: null },
        again: { immutable: true },
        labels: { metadata: { labels: { a: "b" } } },
        all: { data: { a: "Mg==" }, immutable: false },
        type: { type: "Nope" },
      }),
    ))
      await probe.send(`${plural} ${name} ${label}`, "PATCH", `${root}/${plural}/${name}${dry}`, {
        body: patch,
        headers: merge,
      });
  }
  const types: Readonly<Record<string, object>> = {
    Opaque: {},
    "kubernetes.io/tls": { "tls.crt": "", "tls.key": "" },
    "kubernetes.io/basic-auth": { username: "eA==" },
    "kubernetes.io/ssh-auth": { "ssh-privatekey": "eA==" },
    "kubernetes.io/dockerconfigjson": { ".dockerconfigjson": "e30=" },
    "kubernetes.io/dockercfg": { ".dockercfg": "e30=" },
    "kubernetes.io/service-account-token": { token: "eA==" },
    "bootstrap.kubernetes.io/token": { "token-id": "eA==" },
    "x y": {},
  };
  for (const [type, [label, body]] of pairs(
    Object.keys(types),
    Object.entries({
      nothing: {},
      "no texts": { data: { x: "eA==" } },
      "bad base64": { data: { x: "*" } },
      "a key with a space": { data: { "a b": "" } },
      "a key of dots": { data: { "..": "" } },
      "a key with a slash": { data: { "a/b": "" } },
      "a long key": { data: { ["x".repeat(254)]: "" } },
      "json that is none": { data: { ".dockerconfigjson": "eA==", ".dockercfg": "eA==" } },
      "texts over data": { data: { a: "eA==", "tls.crt": "eA==" }, stringData: { a: "y", "tls.key": "z" } },
      account: { metadata: { name: "s", annotations: { "kubernetes.io/service-account.name": "default" } } },
    }),
  )) {
    const fields = body as { readonly data?: object };
    await probe.send(`secret ${type} of ${label}`, "POST", `${root}/secrets${dry}`, {
      body: { metadata: { name: "s" }, type, ...fields },
    });
    await probe.send(`whole secret ${type} of ${label}`, "POST", `${root}/secrets${dry}`, {
      body: { metadata: { name: "s" }, type, ...fields, data: { ...types[type], ...fields.data } },
    });
  }
}

async function accounts(probe: Probe): Promise<void> {
  await probe.createNamespace();
  const root = `/api/v1/namespaces/${probe.namespace}`;
  const classes = "/apis/scheduling.k8s.io/v1/priorityclasses";
  const containers = [{ name: "c", image: "i" }];
  await probe.quietly("POST", classes, { metadata: { name: "fidelity-high" }, value: 1000, preemptionPolicy: "Never" });
  await probe.session.noticed(300);
  for (const [label, spec] of Object.entries({
    none: {},
    "a class": { priorityClassName: "fidelity-high" },
    "a class and its value": { priorityClassName: "fidelity-high", priority: 1000 },
    "a class and another value": { priorityClassName: "fidelity-high", priority: 1 },
    "a class and another policy": { priorityClassName: "fidelity-high", preemptionPolicy: "PreemptLowerPriority" },
    "an unknown class": { priorityClassName: "nope" },
    "a system class": { priorityClassName: "system-node-critical" },
    "an odd class": { priorityClassName: "A_" },
    "a value": { priority: 5 },
    "no value": { priority: 0 },
    "an account": { serviceAccountName: "x" },
    "an old account": { serviceAccount: "x" },
    "two accounts": { serviceAccount: "x", serviceAccountName: "y" },
    "an odd account": { serviceAccountName: "A_" },
    "no token": { automountServiceAccountToken: false },
    "an unknown runtime": { runtimeClassName: "nope" },
    "an odd runtime": { runtimeClassName: "A_" },
    overhead: { overhead: { cpu: "1" } },
    tolerations: {
      tolerations: [
        { key: "node.kubernetes.io/not-ready", operator: "Exists", effect: "NoExecute", tolerationSeconds: 1 },
        { operator: "Exists" },
      ],
    },
    "odd tolerations": {
      tolerations: [
        { key: "a b", operator: "Nope", value: "x y", effect: "No" },
        { operator: "Exists", value: "x" },
        { effect: "NoSchedule", tolerationSeconds: 1, key: "a" },
      ],
    },
    "a gate": { schedulingGates: [{ name: "a.b/c" }, { name: "a.b/c" }, { name: "A B" }] },
    "a node": { nodeName: "n" },
    "an odd node": { nodeName: "N_" },
    "a gate and a node": { nodeName: "n", schedulingGates: [{ name: "a.b/c" }] },
    "an odd host": { hostname: "A_", subdomain: "B_" },
    windows: { os: { name: "windows" }, securityContext: { runAsUser: 1, seLinuxOptions: {} }, hostPID: true },
    "an odd system": { os: { name: "nope" } },
    users: { hostUsers: false, hostNetwork: true },
    shared: { shareProcessNamespace: true, hostPID: true },
    dns: { dnsPolicy: "None" },
    "odd dns": {
      dnsPolicy: "Nope",
      dnsConfig: { nameservers: ["x", "1.1.1.1", "2.2.2.2", "3.3.3.3"], searches: ["A_"], options: [{}] },
    },
    restarts: { restartPolicy: "Nope" },
    deadlines: { activeDeadlineSeconds: 0, terminationGracePeriodSeconds: -1 },
  })) {
    await probe.send(`pod with ${label}`, "POST", `${root}/pods${dry}`, {
      body: { metadata: { name: "p" }, spec: { containers, ...spec } },
    });
    await probe.send(`job with ${label}`, "POST", `/apis/batch/v1/namespaces/${probe.namespace}/jobs${dry}`, {
      body: { metadata: { name: "j" }, spec: { template: { spec: { restartPolicy: "Never", containers, ...spec } } } },
    });
  }
  for (const [label, body] of Object.entries({
    plain: { value: 5 },
    "no value": {},
    "a large value": { value: 1000000001 },
    "a default": { value: 5, globalDefault: true },
    "an odd policy": { value: 5, preemptionPolicy: "Nope" },
    "a value of text": { value: "5" },
  })) {
    await probe.send(`class of ${label}`, "POST", `${classes}${dry}`, {
      body: { metadata: { name: "fidelity-x" }, ...body },
    });
    await probe.send(`class changed to ${label}`, "PATCH", `${classes}/fidelity-high${dry}`, { body, headers: merge });
  }
  for (const name of ["system-node-critical", "system-cluster-critical"]) {
    await probe.send(`delete ${name}`, "DELETE", `${classes}/${name}${dry}`);
    await probe.send(`change ${name}`, "PATCH", `${classes}/${name}${dry}`, { body: { value: 1 }, headers: merge });
    await probe.send(`describe ${name}`, "PATCH", `${classes}/${name}${dry}`, {
      body: { description: "x" },
      headers: merge,
    });
  }
}

export const admissions: readonly Family[] = [
  { name: "limits", run: limits },
  { name: "immutable data", run: immutables },
  { name: "accounts and priorities", run: accounts },
];
