/**
 * Webhooks of the compiled binary beside a webhook server of controller-runtime that does the same, in turns.
 *
 *     bun scripts/bench/webhooks/bench.ts [--seconds 3] [--rounds 3] [--kept FILE]
 *
 * Both validate and mutate a pod of 3 KB and convert a list of 500 objects, over HTTPS and HTTP/1.1, as kube-apiserver asks. Go is needed,
 * and `dist/binnacle`. `--kept` names the Go program of an earlier run, so that it is not built again.
 */
import { existsSync } from "node:fs";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { cpus, tmpdir } from "node:os";
import { join } from "node:path";
import yargs from "yargs";
import { hideBin } from "yargs/helpers";
import { createAuthority, issue, listenApiServer } from "binnacle-apiserver";
import { Bench, freePort } from "../../../tests/support/binary.ts";

const { seconds, rounds, kept } = await yargs(hideBin(process.argv))
  .option("seconds", { type: "number", default: 3 })
  .option("rounds", { type: "number", default: 3 })
  .option("kept", { type: "string", default: join(tmpdir(), "binnacle-bench-webhooks") })
  .strict()
  .parse();

const WIDGETS = `
import { defineResource, z } from "binnacle";
export const Widget = defineResource({
  group: "bench.example.com",
  kind: "Widget",
  versions: {
    v1: { spec: z.object({ size: z.int(), payload: z.string(), labels: z.record(z.string(), z.string()).optional() }) },
    v1beta1: {
      spec: z.object({ replicas: z.int(), payload: z.string(), labels: z.record(z.string(), z.string()).optional() }),
      toHub: ({ spec: { replicas, ...rest } }) => ({ spec: { size: replicas, ...rest } }),
      fromHub: ({ spec: { size, ...rest } }) => ({ spec: { replicas: size, ...rest } }),
    },
  },
  hub: "v1",
  storage: "v1",
});`;

function pod(): object {
  const containers = [0, 1, 2].map((index) => ({
    name: `c${index}`,
    image: `registry.example.com/team/app${index}:1.2.3`,
    imagePullPolicy: "IfNotPresent",
    terminationMessagePath: "/dev/termination-log",
    terminationMessagePolicy: "File",
    resources: { limits: { cpu: "500m", memory: "128Mi" }, requests: { cpu: "100m", memory: "64Mi" } },
    env: [
      { name: "A", value: "1" },
      { name: "B", valueFrom: { fieldRef: { apiVersion: "v1", fieldPath: "metadata.name" } } },
    ],
    volumeMounts: [
      { name: "token", mountPath: "/var/run/secrets/kubernetes.io/serviceaccount", readOnly: true },
      { name: "data", mountPath: "/data" },
    ],
    livenessProbe: {
      httpGet: { path: "/healthz", port: 8080, scheme: "HTTP" },
      timeoutSeconds: 1,
      periodSeconds: 10,
      successThreshold: 1,
      failureThreshold: 3,
    },
  }));
  const owner = { apiVersion: "apps/v1", kind: "ReplicaSet", name: "web", uid: crypto.randomUUID(), controller: true };
  const token = { serviceAccountToken: { expirationSeconds: 3607, path: "token" } };
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "web-abcde", namespace: "default", labels: { app: "web" }, ownerReferences: [owner] },
    spec: {
      containers,
      volumes: [
        { name: "token", projected: { defaultMode: 420, sources: [token] } },
        { name: "data", emptyDir: {} },
      ],
      restartPolicy: "Always",
      terminationGracePeriodSeconds: 30,
      dnsPolicy: "ClusterFirst",
      serviceAccountName: "default",
      securityContext: {},
      schedulerName: "default-scheduler",
      tolerations: [
        { key: "node.kubernetes.io/not-ready", operator: "Exists", effect: "NoExecute", tolerationSeconds: 300 },
      ],
    },
    status: {},
  };
}

function admission(): object {
  const request = {
    uid: crypto.randomUUID(),
    kind: { group: "", version: "v1", kind: "Pod" },
    resource: { group: "", version: "v1", resource: "pods" },
    name: "web-abcde",
    namespace: "default",
    operation: "CREATE",
    userInfo: {
      username: "system:serviceaccount:kube-system:replicaset-controller",
      groups: ["system:serviceaccounts"],
    },
    object: pod(),
    oldObject: null,
    dryRun: false,
    options: { kind: "CreateOptions", apiVersion: "meta.k8s.io/v1" },
  };
  return { kind: "AdmissionReview", apiVersion: "admission.k8s.io/v1", request };
}

function conversion(): object {
  const objects = Array.from({ length: 500 }, (_, index) => ({
    apiVersion: "bench.example.com/v1beta1",
    kind: "Widget",
    metadata: {
      name: `widget-${index}`,
      namespace: "default",
      uid: crypto.randomUUID(),
      resourceVersion: String(1_000 + index),
      creationTimestamp: "2026-01-01T00:00:00Z",
      labels: { app: "bench", shard: String(index % 7) },
    },
    spec: { replicas: index, payload: "x".repeat(200), labels: { a: "1", b: "2" } },
  }));
  const request = { uid: crypto.randomUUID(), desiredAPIVersion: "bench.example.com/v1", objects };
  return { kind: "ConversionReview", apiVersion: "apiextensions.k8s.io/v1", request };
}

interface Load {
  readonly requests: number;
  readonly failed: number;
  readonly error: string;
  readonly perSecond: number;
  readonly p50: number;
  readonly p99: number;
}

interface Server {
  readonly name: string;
  readonly pid: number;
  readonly port: number;
}

/** Returns the CPU seconds of a process. */
async function cpu(pid: number): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, "utf8");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

async function resident(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, "utf8");
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024;
}

async function load(
  server: Server,
  scenario: { path: string; body: string; connections: number },
): Promise<Load & { cpu: number }> {
  const { path, body, connections } = scenario;
  const before = await cpu(server.pid);
  const url = `https://127.0.0.1:${server.port}${path}?timeout=30s`;
  const args = ["load", "-url", url, "-body", body, "-connections", String(connections), "-seconds", String(seconds)];
  const child = Bun.spawnSync([kept, ...args]);
  if (!child.success) throw new Error(`${server.name} ${path}: ${child.stderr.toString()}`);
  const found = JSON.parse(child.stdout.toString()) as Load;
  if (found.failed > 0)
    throw new Error(`${server.name} ${path}: ${found.failed} failed, the first with ${found.error}`);
  return { ...found, cpu: ((await cpu(server.pid)) - before) / found.requests };
}

function middle(numbers: readonly number[]): number {
  return numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)]!;
}

if (!existsSync(kept)) {
  const build = Bun.spawnSync(["go", "build", "-o", kept, "."], { cwd: join(import.meta.dirname, "go") });
  if (!build.success) throw new Error(`Cannot build the server of controller-runtime: ${build.stderr.toString()}`);
}
const dir = await mkdtemp(join(tmpdir(), "binnacle-bench-"));
const authority = createAuthority("bench");
const pair = issue(authority, { subject: { name: "bench" }, hosts: ["127.0.0.1"] });
await writeFile(join(dir, "tls.crt"), pair.cert);
await writeFile(join(dir, "tls.key"), pair.key);
await writeFile(join(dir, "admission.json"), JSON.stringify(admission()));
await writeFile(join(dir, "conversion.json"), JSON.stringify(conversion()));

await using api = await listenApiServer();
await using bench = await Bench.create();
await bench.write("kubeconfig", api.kubeconfig);
await bench.example("image-policy");
await bench.write("controllers/widget.ts", WIDGETS);
const [port, goPort] = [await freePort(), await freePort()];
const args = ["--webhook-bind-address", `127.0.0.1:${port}`, "--webhook-cert-path", dir];
await using operator = await bench.run({ kubeconfig: "kubeconfig", args });
await operator.ready();
const go = Bun.spawn([kept, "serve", "-cert", dir, "-port", String(goPort)], { stdout: "ignore", stderr: "inherit" });
await Bun.sleep(1_000);

const servers: readonly Server[] = [
  { name: "binnacle", pid: operator.child.pid, port },
  { name: "controller-runtime", pid: go.pid, port: goPort },
];
const scenarios = [
  { name: "validate", path: "/validate--v1-pod", body: join(dir, "admission.json") },
  { name: "mutate", path: "/mutate--v1-pod", body: join(dir, "admission.json") },
  { name: "convert 500", path: "/convert", body: join(dir, "conversion.json") },
].flatMap((scenario) => [1, 64].map((connections) => ({ ...scenario, connections })));

try {
  console.log(`${cpus().length} CPUs, ${rounds} rounds of ${seconds} s; the middle of each\n`);
  console.log(
    "| what | connections | server | per second | p50 ms | p99 ms | CPU µs each |\n|---|---|---|---|---|---|---|",
  );
  for (const server of servers) await load(server, scenarios[0]!); // warm
  for (const scenario of scenarios) {
    const results = new Map(servers.map((server) => [server, [] as (Load & { cpu: number })[]]));
    for (let round = 0; round < rounds; round++) {
      for (const server of servers) results.get(server)!.push(await load(server, scenario));
    }
    for (const [{ name }, all] of results) {
      const of = (field: "perSecond" | "p50" | "p99" | "cpu"): number => middle(all.map((one) => one[field]));
      const cells = [
        of("perSecond").toFixed(0),
        of("p50").toFixed(2),
        of("p99").toFixed(2),
        (of("cpu") * 1e6).toFixed(0),
      ];
      console.log(`| ${scenario.name} | ${scenario.connections} | ${name} | ${cells.join(" | ")} |`);
    }
  }
  for (const server of servers) console.log(`${server.name}: ${(await resident(server.pid)).toFixed(0)} MiB resident`);
} finally {
  go.kill();
  await go.exited;
  await rm(dir, { recursive: true, force: true });
}
