/**
 * Chaos on a Kubernetes node: pods killed, kubelet stopped, the API server killed, the memory limit hit, DNS gone, while
 * somebody changes objects all the time. At the end every object has its child, and the audit log shows that nobody wrote without
 * the Lease: `bun tests/node/chaos.ts [SECONDS [SEED]]`. The seed decides the order of the faults, the pods and the changes.
 */

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { until } from "../support/until.ts";
import { binary, build, isBuilt } from "../../scripts/build.ts";
import { randomFrom } from "../ha/chaos.ts";
import { judge, type Verdict } from "../ha/judge.ts";
import type { StoredLease } from "../ha/lease-history.ts";
import { audited, readEvidence } from "./chaos-audit.ts";
import { ChaosLoad, HOG, MODULE } from "./chaos-load.ts";
import { type KubernetesNode, startNode } from "./node.ts";
import { run } from "./programs.ts";

export const NAMESPACE = "chaos-system";
const IN = ["--namespace", NAMESPACE];

export interface ChaosOptions {
  readonly seed: number;
  /** How long faults go on; each of them has struck once at least. */
  readonly seconds: number;
  /** Milliseconds between two faults. @default 8_000 */
  readonly pause?: number;
  /** Milliseconds that a fault lasts that has an end. @default 15_000 */
  readonly lasts?: number;
}

export interface Outcome {
  /** How often each fault struck. */
  readonly faults: Readonly<Record<string, number>>;
  readonly changes: number;
  /** Milliseconds until the state was right, from the last change on. */
  readonly settled: number;
  readonly objects: number;
  /** Children of objects that are gone, which the garbage collector has left so far. */
  readonly uncollected: number;
  /** How often the Lease was written, and how often it went to another holder. */
  readonly lease: { readonly versions: number; readonly holders: number };
  readonly verdict: Verdict;
}

interface Strike {
  readonly node: KubernetesNode;
  readonly random: () => number;
  readonly lasts: number;
}

const faults: Readonly<Record<string, (strike: Strike) => Promise<void>>> = {
  "a pod is killed": async ({ node, random }) => {
    const pods = (await node.kubectl("get", "pods", ...IN, "-o", "name")).trim().split("\n");
    const one = pods[Math.floor(random() * pods.length)];
    if (one) await node.kubectl("delete", one, ...IN, "--grace-period=0", "--force");
  },
  "the leader is killed": async ({ node }) => {
    const lease = await node.tryKubectl(["get", "lease", "chaos", ...IN, "-o", "jsonpath={.spec.holderIdentity}"]);
    const [pod] = lease.stdout.split("_");
    if (pod) await node.tryKubectl(["delete", "pod", pod, ...IN, "--grace-period=0", "--force"]);
  },
  "kubelet is stopped": (strike) => paused(strike, "kubelet"),
  "DNS is gone": (strike) => paused(strike, "coredns"),
  // A request in flight may miss in the audit log. Asked to end, it would take a minute.
  "the API server is killed": async ({ node }) => void (await node.exec("pkill", "-KILL", "-x", "kube-apiserver")),
  "the memory limit is hit": async ({ node }) => {
    await node.apply(HOG, ["create", "-f", "-"]);
    const reasons = ["get", "pods", ...IN, "-o", "jsonpath={.items[*].status.containerStatuses[*]..reason}"];
    const isKilled = async () => (await node.tryKubectl(reasons)).stdout.includes("OOMKilled");
    await until(isKilled, { within: 60_000, every: 500, what: "a container is killed for its memory" });
  },
};

/** Stopped as by a debugger: it answers nobody, and its connections stay. */
async function paused({ node, lasts }: Strike, program: string): Promise<void> {
  await node.exec("pkill", "-STOP", "-x", program);
  await Bun.sleep(lasts);
  await node.exec("pkill", "-CONT", "-x", program);
}

/** Deploys a controller, strikes, and waits until the state is right. @throws when it does not become right. */
export async function chaos(node: KubernetesNode, options: ChaosOptions): Promise<Outcome> {
  const dir = await mkdtemp(join(tmpdir(), "chaos-"));
  try {
    const random = randomFrom(options.seed);
    await deploy(node, dir);
    const load = new ChaosLoad(node, randomFrom(options.seed + 1));
    const counts = await strike({ ...options, node, random });
    const expected = await load.end();
    const began = performance.now();
    await node.kubectl("rollout", "status", "deployment/chaos", ...IN, "--timeout=180s");
    let wrong: readonly string[] = [];
    await until(async () => (wrong = await load.wrong(expected)).length === 0, {
      within: 240_000,
      every: 1_000,
      what: () => `every object has its child; wrong are ${wrong.slice(0, 5).join(", ")}`,
    });
    const settled = performance.now() - began;
    const uncollected = await load.uncollected(expected);
    const evidence = await readEvidence(join(node.dir, "var", "log", "audit.log"));
    const verdict = judge({ ...evidence, leaseName: "chaos", runs: [], faults: [], until: Date.now() });
    const holders = evidence.lease.filter(
      ({ holder }, index) => holder !== "" && holder !== lastHolder(evidence.lease.slice(0, index)),
    ).length;
    const lease = { versions: evidence.lease.length, holders };
    const { changes } = load;
    return { faults: counts, changes, settled, objects: expected.size, uncollected, lease, verdict };
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}

function lastHolder(lease: readonly StoredLease[]): string | undefined {
  return lease.findLast(({ holder }) => holder !== "")?.holder;
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
async function strike(options: ChaosOptions & Omit<Strike, "lasts">): Promise<Readonly<Record<string, number>>> {
  const { seconds, random, pause = 8_000, lasts = 15_000 } = options;
  const deadline = performance.now() + seconds * 1_000;
  const counts: Record<string, number> = {};
  const names = Object.keys(faults);
  let bag: string[] = [];
  for (let struck = 0; struck < names.length || performance.now() < deadline; struck++) {
    if (bag.length === 0) bag = shuffled(names, random);
    const name = bag.pop()!;
    console.log(`${new Date().toISOString().slice(11, 19)} ${name}`);
    try {
      await faults[name]!({ ...options, lasts });
      counts[name] = (counts[name] ?? 0) + 1;
    } catch (error) {
      console.log(`  not now: ${error instanceof Error ? (error.message.split("\n")[0] ?? "") : String(error)}`);
    }
    await Bun.sleep(pause);
  }
  return counts;
}

function shuffled(names: readonly string[], random: () => number): string[] {
  const places = names.map((name) => ({ name, place: random() }));
  return places.sort((a, b) => a.place - b.place).map(({ name }) => name);
}

/** @returns the exit status. */
async function main(seconds: number, seed: number): Promise<number> {
  console.log(`seed ${seed}`);
  if (!isBuilt()) await build();
  await using node = await startNode(audited);
  const { faults, settled, objects, uncollected, lease, changes, verdict } = await chaos(node, { seconds, seed });
  console.log(`${JSON.stringify(faults)}; ${changes} changes by the load`);
  console.log(`${(settled / 1000).toFixed(1)} s until the state was right: ${objects} objects`);
  console.log(`${uncollected} children of objects that are gone are left to the garbage collector`);
  console.log(`${lease.versions} versions of the Lease, which changed its holder ${lease.holders} times`);
  console.log(`${verdict.writes} writes by replicas, ${verdict.violations.length} without the Lease`);
  for (const { offence, request, late } of verdict.violations.slice(0, 10)) {
    console.log(`  ${offence} for ${late} ms: ${request.user} ${request.verb} ${request.resource} ${request.name}`);
  }
  return verdict.violations.length > 0 || verdict.writes === 0 ? 1 : 0;
}

if (import.meta.main) {
  const [seconds = 600, seed = Date.now() % 1e6] = process.argv.slice(2).map(Number);
  if (!(seconds > 0) || !Number.isInteger(seed)) {
    console.error("usage: bun tests/node/chaos.ts [SECONDS [SEED]]");
    process.exit(2);
  }
  try {
    process.exitCode = await main(seconds, seed);
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = 1;
  }
}
