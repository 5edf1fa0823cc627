/** Subresources of pods: debug containers, resizes, logs. */
import { pairs } from "../sampling.ts";
import type { Family, Probe } from "./family.ts";

const collection = (probe: Probe): string => `/api/v1/namespaces/${probe.namespace}/pods`;

const resources = { requests: { cpu: "100m", memory: "64Mi" } };

async function prepare(probe: Probe): Promise<string> {
  await probe.createNamespace();
  const container = { name: "main", image: "example.test/main", resources };
  const sidecar = { name: "side", image: "example.test/side", restartPolicy: "Always" };
  const first = { name: "first", image: "example.test/first" };
  await probe.quietly("POST", collection(probe), {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "p" },
    spec: { containers: [container, { ...container, name: "other" }], initContainers: [sidecar, first] },
  });
  return `${collection(probe)}/p`;
}

const debuggers: Readonly<Record<string, readonly object[]>> = {
  plain: [{ name: "d", image: "busybox" }],
  "with a target": [{ name: "d", image: "busybox", targetContainerName: "main" }],
  "with a target that is not there": [{ name: "d", image: "busybox", targetContainerName: "none" }],
  "with ports": [{ name: "d", image: "busybox", ports: [{ containerPort: 1 }] }],
  "with resources": [{ name: "d", image: "busybox", resources }],
  "with no resources": [{ name: "d", image: "busybox", resources: {} }],
  "with a probe": [{ name: "d", image: "busybox", livenessProbe: { exec: { command: ["x"] } } }],
  "with everything": [
    {
      name: "d",
      image: " busybox",
      ports: [{ containerPort: 0 }],
      lifecycle: { preStop: { exec: { command: ["x"] } } },
      restartPolicy: "Always",
      resizePolicy: [{ resourceName: "cpu", restartPolicy: "NotRequired" }],
      readinessProbe: { tcpSocket: { port: 1 } },
    },
  ],
  "with a part of a volume": [
    { name: "d", image: "busybox", volumeMounts: [{ name: "v", mountPath: "/x", subPath: "a" }] },
  ],
  "named as another": [{ name: "main", image: "busybox" }],
  "named as one that came first": [{ name: "first", image: "busybox" }],
  twice: [
    { name: "d", image: "busybox" },
    { name: "d", image: "busybox" },
  ],
  nameless: [{ image: "busybox" }],
  imageless: [{ name: "d" }],
  "with env": [{ name: "d", image: "busybox", env: [{ name: "1a=", value: "x" }] }],
  "in a terminal": [{ name: "d", image: "busybox", stdin: true, tty: true, command: ["sh"] }],
};

const patchTypes = ["merge-patch", "strategic-merge-patch"];

async function debugging(probe: Probe): Promise<void> {
  const path = `${await prepare(probe)}/ephemeralcontainers`;
  for (const [type, [label, ephemeralContainers]] of pairs(patchTypes, Object.entries(debuggers))) {
    const call = { body: { spec: { ephemeralContainers } }, headers: { "content-type": `application/${type}+json` } };
    await probe.send(`${type} ${label}`, "PATCH", `${path}?dryRun=All`, call);
  }
  await probe.merge(path, { spec: { ephemeralContainers: debuggers["with a target"] } });
  const headers = { "content-type": "application/json-patch+json" };
  for (const [label, patch] of Object.entries({
    removed: [{ op: "remove", path: "/spec/ephemeralContainers" }],
    changed: [{ op: "replace", path: "/spec/ephemeralContainers/0/image", value: "other" }],
    added: [{ op: "add", path: "/spec/ephemeralContainers/-", value: { name: "e", image: "busybox" } }],
    "something else": [{ op: "replace", path: "/spec/containers/0/image", value: "other" }],
  }))
    await probe.send(`then ${label}`, "PATCH", `${path}?dryRun=All`, { body: patch, headers });
  await probe.get("read", path);
}

const sizes: Readonly<Record<string, object>> = {
  "more cpu": { containers: [{ name: "main", resources: { requests: { cpu: "200m" } } }] },
  "a limit": { containers: [{ name: "main", resources: { limits: { cpu: "1" } } }] },
  "less than asked": { containers: [{ name: "main", resources: { limits: { cpu: "10m" } } }] },
  "no cpu": { containers: [{ name: "main", resources: { requests: { cpu: null } } }] },
  "another image": { containers: [{ name: "main", image: "other" }] },
  "another resource": { containers: [{ name: "main", resources: { requests: { "example.test/x": "1" } } }] },
  "a policy": { containers: [{ name: "main", resizePolicy: [{ resourceName: "cpu", restartPolicy: "NotRequired" }] }] },
  "a sidecar": { initContainers: [{ name: "side", resources: { requests: { cpu: "1" } } }] },
  "one that runs first": { initContainers: [{ name: "first", resources: { requests: { cpu: "1" } } }] },
  "the whole pod": { resources: { requests: { cpu: "2" } } },
  "a new container": { containers: [{ name: "new", image: "x" }] },
  "nothing negative": { containers: [{ name: "main", resources: { requests: { cpu: "-1" } } }] },
  "no quantity": { containers: [{ name: "main", resources: { requests: { cpu: "x" } } }] },
  "tolerations too": {
    containers: [{ name: "main", resources: { requests: { cpu: "300m" } } }],
    tolerations: [{ operator: "Exists" }],
  },
};

async function resizing(probe: Probe): Promise<void> {
  const pod = await prepare(probe);
  const headers = { "content-type": "application/strategic-merge-patch+json" };
  for (const [label, spec] of Object.entries(sizes)) {
    await probe.send(`dry ${label}`, "PATCH", `${pod}/resize?dryRun=All`, { body: { spec }, headers });
    await probe.send(`on the pod ${label}`, "PATCH", `${pod}?dryRun=All`, { body: { spec }, headers });
    const metadata = { labels: { a: "b" }, annotations: { c: "d" } };
    await probe.send(`with metadata ${label}`, "PATCH", `${pod}/resize?dryRun=All`, {
      body: { metadata, spec },
      headers,
    });
  }
  for (const [label, spec] of Object.entries(sizes).slice(0, 6))
    await probe.send(`kept ${label}`, "PATCH", `${pod}/resize`, { body: { spec }, headers });
  const live = await probe.quietly("GET", pod);
  await probe.put("put as it is", `${pod}/resize`, live);
  await probe.put("put without containers", `${pod}/resize`, { ...live, spec: {} });
}

const logOptions = [
  ...["-1", "x", "", "5", "99999999999999999999"].map((value) => `tailLines=${value}`),
  ...["x", "", "2020-01-01", "2020-01-01T00:00:00", "2020-01-01T00:00:00%2B02:00"].map((value) => `sinceTime=${value}`),
  "limitBytes=0",
  "sinceSeconds=0",
  "sinceSeconds=1&sinceTime=2020-01-01T00:00:00Z",
  "follow=x",
  "previous=true",
  "stream=Stdout",
  "stream=Bogus",
  "stream=All&tailLines=1",
  "container=none",
  "container=",
];

async function logs(probe: Probe): Promise<void> {
  const pod = await prepare(probe);
  for (const query of logOptions) {
    await probe.get(`main with ${query}`, `${pod}/log?container=main&${query}`);
    await probe.get(`with ${query}`, `${pod}/log?${query}`);
    await probe.get(`of nobody with ${query}`, `${pod}x/log?${query}`);
  }
}

export const podPaths: readonly Family[] = [
  { name: "containers for debugging", share: 0.3, run: debugging },
  { name: "pods of other sizes", share: 0.3, run: resizing },
  { name: "logs of pods", share: 0.3, run: logs },
];
