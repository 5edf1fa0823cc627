/**
 * What a reload costs, on the embedded cluster in one process.
 *
 *     bun scripts/bench/reload.ts [--saves 300] [--reloads 2000] [--objects 5000]
 *
 * 1. From a save to the first run of the new code, with one module and with 29 others beside it: for a key that waits all the time.
 * 2. One reload of a controller with many objects, by `onReload`: until nothing waits any more, and the processor's time.
 * 3. The memory over many reloads, and the lists and watches that the server is asked for in all of them.
 */
import { heapStats } from "bun:jsc";
import { cpus } from "node:os";
import { parseArgs } from "node:util";
import { ConfigMap } from "../../src/resource/builtin/core.ts";
import { ReloadLab, telling, type ToldRun } from "../../tests/support/reload-lab.ts";
import { until } from "../../tests/support/until.ts";

const { values } = parseArgs({
  options: {
    saves: { type: "string", default: "300" },
    reloads: { type: "string", default: "2000" },
    objects: { type: "string", default: "5000" },
  },
});
const saves = Number(values.saves);
const reloads = Number(values.reloads);
const objects = Number(values.objects);

const FILE = "measured.ts";
const row = (...cells: readonly (string | number)[]): void => console.log(`| ${cells.join(" | ")} |`);

/** Waits for the first run of a version. */
class FirstRuns {
  #waiting: { readonly version: number; readonly resolve: (at: number) => void } | undefined;
  runs = 0;

  begin = ({ controller, version }: ToldRun): void => {
    if (controller !== "measured") return;
    this.runs++;
    if (this.#waiting?.version !== version) return;
    this.#waiting.resolve(performance.now());
    this.#waiting = undefined;
  };

  end = (): void => {};

  of(version: number): Promise<number> {
    const { promise, resolve } = Promise.withResolvers<number>();
    this.#waiting = { version, resolve };
    return promise;
  }
}

type OnReload = "reconcile-all" | "resume";

function measured(version: number, onReload: OnReload, body?: string): string {
  return telling({ controller: "measured", version, onReload, body });
}

/** A key that waits all the time. */
const WAITING = "return { requeueAfter: 1 };";

async function start(files: Readonly<Record<string, string>>, count: number): Promise<[ReloadLab, FirstRuns]> {
  const first = new FirstRuns();
  const lab = await ReloadLab.start(files, first);
  const { client } = lab.cluster;
  for (let made = 0; made < count; made += 100) {
    const names = Array.from({ length: Math.min(100, count - made) }, (_, index) => `object-${made + index}`);
    const metadata = (name: string) => ({ namespace: "default", name, labels: { lab: "yes" } });
    await Promise.all(names.map((name) => client.create(ConfigMap, { metadata: metadata(name), data: {} })));
  }
  await until(() => first.runs >= count, { within: 120_000, every: 10 });
  return [lab, first];
}

function memory(): number {
  for (let round = 0; round < 3; round++) Bun.gc(true);
  const { heapSize, extraMemorySize } = heapStats();
  return (heapSize + extraMemorySize) / 2 ** 20;
}

function percentile(sorted: readonly number[], part: number): string {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))]!.toFixed(1);
}

async function latency(others: number): Promise<void> {
  const files = Object.fromEntries(
    Array.from({ length: others }, (_, index) => [
      `other-${index}.ts`,
      telling({ controller: `other-${index}`, version: 0, onReload: "resume" }),
    ]),
  );
  const [lab, first] = await start({ ...files, [FILE]: measured(0, "resume", WAITING) }, 1);
  await using _lab = lab;
  const before = { ...lab.requests };
  const times: number[] = [];
  for (let version = 1; version <= saves; version++) {
    const ran = first.of(version);
    const saved = performance.now();
    await lab.save(FILE, measured(version, "resume", WAITING));
    times.push((await ran) - saved);
  }
  times.sort((a, b) => a - b);
  const requests = `${lab.requests.lists - before.lists} / ${lab.requests.watches - before.watches}`;
  row(others + 1, percentile(times, 0.5), percentile(times, 0.99), percentile(times, 1), requests);
}

async function many(onReload: OnReload): Promise<void> {
  const [lab, first] = await start({ [FILE]: measured(0, onReload) }, objects);
  await using _lab = lab;
  await lab.idle();
  const before = { ...lab.requests, runs: first.runs };
  const used = process.cpuUsage();
  const began = performance.now();
  const rounds = 10;
  for (let version = 1; version <= rounds; version++) {
    const reloaded = lab.reloads;
    const ran = onReload === "resume" ? undefined : first.of(version);
    await lab.save(FILE, measured(version, onReload));
    await until(() => lab.reloads > reloaded);
    await ran;
    await lab.idle();
  }
  const { user, system } = process.cpuUsage(used);
  const runs = (first.runs - before.runs) / rounds;
  const requests = `${lab.requests.lists - before.lists} / ${lab.requests.watches - before.watches}`;
  row(
    onReload,
    runs,
    ((performance.now() - began) / rounds).toFixed(0),
    ((user + system) / 1_000 / rounds).toFixed(0),
    requests,
  );
}

async function flatness(): Promise<void> {
  const [lab, first] = await start({ [FILE]: measured(0, "resume", WAITING) }, 1);
  await using _lab = lab;
  const before = { ...lab.requests };
  row(0, memory().toFixed(1), (process.memoryUsage.rss() / 2 ** 20).toFixed(0), "0 / 0");
  for (let version = 1; version <= reloads; version++) {
    const ran = first.of(version);
    await lab.save(FILE, measured(version, "resume", WAITING));
    await ran;
    if (version % Math.ceil(reloads / 8) !== 0 && version !== reloads) continue;
    const requests = `${lab.requests.lists - before.lists} / ${lab.requests.watches - before.watches}`;
    row(version, memory().toFixed(1), (process.memoryUsage.rss() / 2 ** 20).toFixed(0), requests);
  }
}

console.log(`${cpus().length} × ${cpus()[0]?.model}, bun ${Bun.version}\n`);
if (saves > 0) {
  console.log(`From a save to the new code's first run, ${saves} saves, in milliseconds:\n`);
  row("modules", "p50", "p99", "max", "lists / watches");
  row("---", "---", "---", "---", "---");
  await latency(0);
  await latency(29);
}
if (objects > 0) {
  console.log(`\nOne reload of a controller with ${objects} objects, with nothing to change:\n`);
  row("onReload", "runs", "ms until idle", "ms of processor", "lists / watches");
  row("---", "---", "---", "---", "---");
  await many("reconcile-all");
  await many("resume");
}
if (reloads > 0) {
  console.log("\nMemory over reloads:\n");
  row("reloads", "MiB of heap", "MiB resident", "lists / watches");
  row("---", "---", "---", "---");
  await flatness();
}
process.exit(0);
