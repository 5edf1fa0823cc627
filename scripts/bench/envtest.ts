/**
 * How long the programs of `binnacle envtest` take from their start until they are ready, one after the other and many at
 * once; beside the real ones, if their folder is named.
 *
 *     npm run build && bun scripts/bench/envtest.ts [KUBEBUILDER_ASSETS of the real programs]
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { arch, cpus, loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { EnvtestPlane } from "../../tests/support/envtest-plane.ts";
import { binary } from "../build.ts";

const ROUNDS = 21;
const AT_ONCE = 20;

/** Starts etcd and an API server one after the other. @returns milliseconds until the API server is ready */
async function startOne(assets: string): Promise<number> {
  await using plane = await EnvtestPlane.create(assets);
  return await plane.start();
}

/** @returns seconds until all are ready, and the resident memory of the API servers in MiB */
async function startMany(assets: string): Promise<{ seconds: number; memory: number }> {
  const began = performance.now();
  const planes = await Promise.all(Array.from({ length: AT_ONCE }, () => EnvtestPlane.create(assets)));
  try {
    await Promise.all(planes.map((plane) => plane.start()));
    const seconds = (performance.now() - began) / 1000;
    return { seconds, memory: Math.max(...planes.map(({ pid }) => residentMemory(pid))) };
  } finally {
    await Promise.all(planes.map((plane) => plane[Symbol.asyncDispose]()));
  }
}

function residentMemory(pid: number): number {
  const pages = readFileSync(`/proc/${pid}/statm`, "utf8").split(" ")[1];
  return (Number(pages) * 4096) / 1024 / 1024;
}

async function measure(name: string, assets: string, rounds: number): Promise<void> {
  const times: number[] = [];
  for (let round = 0; round < rounds; round++) times.push(await startOne(assets));
  times.sort((one, other) => one - other);
  const at = (part: number): string => `${(times[Math.floor(times.length * part)] ?? 0).toFixed(0)} ms`;
  console.log(`${name}: ready after ${at(0.5)} (p50), ${at(0.9)} (p90) of ${rounds} starts`);
}

const folder = mkdtempSync(join(tmpdir(), "envtest-bench-"));
try {
  const [real] = process.argv.slice(2);
  console.log(`${cpus().length} CPUs, ${arch()}, load ${loadavg()[0]?.toFixed(1)}`);
  await Bun.$`${binary} envtest ${folder} -p path`.quiet();
  await measure("binnacle", folder, ROUNDS);
  const { seconds, memory } = await startMany(folder);
  console.log(`binnacle: ${AT_ONCE} with their etcd at once in ${seconds.toFixed(1)} s, ${memory.toFixed(0)} MiB each`);
  if (real !== undefined && readdirSync(real).includes("etcd")) await measure("kube-apiserver", real, 5);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
