/**
 * Chaos on a Kubernetes node: pods killed, kubelet stopped, the API server killed, the memory limit hit, DNS gone, while
 * somebody changes objects all the time. At the end every object has its child, and the audit log shows that nobody wrote without
 * the Lease: `bun scripts/node/chaos.ts [SECONDS]`.
 */

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { until } from "../../tests/support/until.ts";
import { binary } from "../build.ts";
import { judge } from "../ha/judge.ts";
import { POLICY, readEvidence } from "./chaos-audit.ts";
import { ChaosLoad, HOG, MODULE } from "./chaos-load.ts";
import { type KubernetesNode, startNode } from "./node.ts";
import { run } from "./programs.ts";

const NAMESPACE = "chaos-system";
const IN = ["--namespace", NAMESPACE];
const PAUSE = 8_000;
/** As long as a fault lasts that has an end. */
const LASTS = 15_000;

const faults: Readonly<Record<string, (node: KubernetesNode) => Promise<void>>> = {
  "a pod is killed": async (node) => {
    const pods = (await node.kubectl("get", "pods", ...IN, "-o", "name")).trim().split("\n");
    const one = pods[Math.floor(Math.random() * pods.length)];
    if (one) await node.kubectl("delete", one, ...IN, "--grace-period=0", "--force");
  },
  "the leader is killed": async (node) => {
    const lease = await node.tryKubectl(["get", "lease", "chaos", ...IN, "-o", "jsonpath={.spec.holderIdentity}"]);
    const [pod] = lease.stdout.split("_");
    if (pod) await node.tryKubectl(["delete", "pod", pod, ...IN, "--grace-period=0", "--force"]);
  },
  "kubelet is stopped": (node) => paused(node, "kubelet"),
  "DNS is gone": (node) => paused(node, "coredns"),
  // A request in flight may miss in the audit log. Asked to end, it would take a minute.
  "the API server is killed": async (node) => void (await node.exec("pkill", "-KILL", "-x", "kube-apiserver")),
  "the memory limit is hit": async (node) => {
    await node.apply(HOG, ["create", "-f", "-"]);
    const reasons = ["get", "pods", ...IN, "-o", "jsonpath={.items[*].status.containerStatuses[*]..reason}"];
    const isKilled = async () => (await node.tryKubectl(reasons)).stdout.includes("OOMKilled");
    await until(isKilled, { within: 60_000, every: 500, what: "a container is killed for its memory" });
  },
};

/** Stopped as by a debugger: it answers nobody, and its connections stay. */
async function paused(node: KubernetesNode, program: string): Promise<void> {
  await node.exec("pkill", "-STOP", "-x", program);
  await Bun.sleep(LASTS);
  await node.exec("pkill", "-CONT", "-x", program);
}

/** @returns the exit status. */
async function chaos(seconds: number): Promise<number> {
  const apiserverFlags = ["--audit-policy-file=/etc/kubernetes/audit.yaml", "--audit-log-path=/var/log/audit.log"];
  await using node = await startNode({ apiserverFlags, files: { "audit.yaml": POLICY } });
  const dir = await mkdtemp(join(tmpdir(), "chaos-"));
  try {
    await deploy(node, dir);
    const load = new ChaosLoad(node);
    const counts = await strike(node, seconds);
    const wanted = await load.end();
    const began = performance.now();
    await node.kubectl("rollout", "status", "deployment/chaos", ...IN, "--timeout=180s");
    await until(async () => (await load.wrong(wanted)).length === 0, {
      within: 240_000,
      every: 1_000,
      what: "every object has its child",
    });
    console.log(
      `${((performance.now() - began) / 1000).toFixed(1)} s until the state was right: ${wanted.size} objects`,
    );
    console.log(
      `${await load.uncollected(wanted)} children of objects that are gone are left to the garbage collector`,
    );
    const evidence = await readEvidence(join(node.dir, "var", "log", "audit.log"));
    const { writes, violations } = judge({ ...evidence, runs: [], faults: [], until: Date.now() });
    console.log(
      `${JSON.stringify(counts)}; ${load.changes} changes by the load; ${evidence.lease.length} versions of the Lease`,
    );
    console.log(`${writes} writes by replicas, ${violations.length} without the Lease`);
    for (const { offence, request, late } of violations.slice(0, 10)) {
      console.log(`  ${offence} for ${late} ms: ${request.user} ${request.verb} ${request.resource} ${request.name}`);
    }
    return violations.length > 0 || writes === 0 ? 1 : 0;
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}

async function deploy(node: KubernetesNode, dir: string): Promise<void> {
  await Bun.write(join(dir, "controllers", "chaos.ts"), MODULE);
  await run(binary, ["build", "--image", "localhost/chaos:1", "--output", "chaos.tar"], { cwd: dir });
  await node.load(join(dir, "chaos.tar"));
  const account = ["--service-account", `${NAMESPACE}/chaos`, "--image", "localhost/chaos:1"];
  const small = ["--memory-limit", "128Mi", "--cpu-limit", "200m", "--replicas", "2"];
  await node.apply(await run(binary, ["manifests", "deploy", ...account, ...small], { cwd: dir }));
  await node.kubectl("rollout", "status", "deployment/chaos", ...IN, "--timeout=120s");
}

/** One fault after the other, each as often as any other. @returns how many there were of each. */
async function strike(node: KubernetesNode, seconds: number): Promise<Readonly<Record<string, number>>> {
  const deadline = performance.now() + seconds * 1_000;
  const counts: Record<string, number> = {};
  for (let bag: string[] = []; performance.now() < deadline;) {
    if (bag.length === 0) bag = Object.keys(faults).sort(() => Math.random() - 0.5);
    const name = bag.pop()!;
    console.log(`${new Date().toISOString().slice(11, 19)} ${name}`);
    try {
      await faults[name]!(node);
      counts[name] = (counts[name] ?? 0) + 1;
    } catch (error) {
      console.log(`  not now: ${error instanceof Error ? (error.message.split("\n")[0] ?? "") : String(error)}`);
    }
    await Bun.sleep(PAUSE);
  }
  return counts;
}

if (import.meta.main) {
  const seconds = Number(process.argv[2] ?? 600);
  if (!(seconds > 0)) {
    console.error("usage: bun scripts/node/chaos.ts [SECONDS]");
    process.exit(2);
  }
  try {
    process.exitCode = await chaos(seconds);
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = 1;
  }
}
