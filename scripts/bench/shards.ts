/**
 * What dividing the keys among replicas brings: 20,000 objects and a workload that waits 100 ms per run, worked by 1, 2, 4
 * and 8 replicas of the compiled binary on a real control plane, with what each replica costs; and with 4 replicas what
 * happens when one is killed and one is added.
 *
 *     bun scripts/bench/shards.ts [--objects 20000] [--counts 1,2,4,8] [--whole]
 *
 * `--whole` leaves the server's division of collections off.
 */
import { parseArgs } from "node:util";
import { until } from "../../tests/support/until.ts";
import { Fleet, overlaps, type RecordedRun, type Replica } from "../../tests/support/integration/shard-fleet.ts";

const { values } = parseArgs({
  options: {
    objects: { type: "string", default: "20000" },
    counts: { type: "string", default: "1,2,4,8" },
    whole: { type: "boolean", default: false },
  },
});
const objects = Number(values.objects);
const BYTES = 1_500;
const WAIT = 100;
const CONCURRENCY = 40;
const CHANGES = Math.min(2_000, objects);

/** What one replica has used so far. */
interface Use {
  readonly cpu: number;
  readonly rss: number;
  readonly requests: number;
  readonly bytes: number;
  readonly objects: number;
}

async function useOf({ operator, received }: Replica): Promise<Use> {
  const { cpu, rss } = await operator.usage();
  return {
    cpu,
    rss,
    requests: await operator.metric("rest_client_requests_total"),
    bytes: received(),
    objects: await operator.metric("binnacle_informer_objects", { kind: "Item" }),
  };
}

function mean(uses: readonly Use[], of: (use: Use) => number): number {
  return uses.reduce((sum, use) => sum + of(use), 0) / uses.length;
}

function least(uses: readonly Use[], of: (use: Use) => number): string {
  const sorted = uses.map(of).sort((a, b) => a - b);
  return `${Math.round(sorted[0]!)}–${Math.round(sorted.at(-1)!)}`;
}

const row = (...cells: readonly (string | number)[]): void => console.log(`| ${cells.join(" | ")} |`);

async function measure(fleet: Fleet, count: number): Promise<void> {
  while (fleet.replicas.length < count) await fleet.begin();
  await fleet.divided();
  const before = await Promise.all(fleet.replicas.map(useOf));
  const began = Date.now();
  await fleet.work();
  const runs = await fleet.worked(objects);
  const drained = (Math.max(...runs.map(({ ended }) => ended)) - Math.min(...runs.map((run) => run.began))) / 1_000;
  const total = (Date.now() - began) / 1_000;
  await Bun.sleep(2_000);
  const after = await Promise.all(fleet.replicas.map(useOf));
  await fleet.change(CHANGES, count);
  await until(
    async () => {
      const seen = (await fleet.runs()).filter(({ turn }) => turn === count);
      return new Set(seen.map(({ key }) => key)).size === CHANGES;
    },
    { within: 120_000, every: 100, what: "changes are worked" },
  );
  const changed = await Promise.all(fleet.replicas.map(useOf));
  const all = await fleet.runs();
  const double = overlaps(all).length;
  const perRun = Map.groupBy(all, ({ pid }) => pid);
  const between = (of: (use: Use) => number, to: readonly Use[], from: readonly Use[]): number =>
    mean(to, of) - mean(from, of);
  row(
    count,
    drained.toFixed(1),
    total.toFixed(1),
    [...perRun.values()].map(({ length }) => length).join(" "),
    Math.round(mean(after, ({ objects: kept }) => kept)),
    least(after, ({ rss }) => rss),
    between(({ cpu }) => cpu, after, before).toFixed(2),
    Math.round(between(({ requests }) => requests, after, before)),
    (between(({ bytes }) => bytes, after, before) / 2 ** 20).toFixed(1),
    (between(({ bytes }) => bytes, changed, after) / 2 ** 20).toFixed(2),
    between(({ cpu }) => cpu, changed, after).toFixed(2),
    double,
  );
}

/** Returns the keys that a process ran, up to a time. */
function keysOf(runs: readonly RecordedRun[], pid: number): ReadonlySet<string> {
  return new Set(runs.filter((run) => run.pid === pid).map(({ key }) => key));
}

/** Returns when a replica began to work on another share. */
function lastDivision({ log }: Replica["operator"]): number {
  const line = log.findLast(({ msg }) => msg === "This replica works a share of the keys");
  return Date.parse(String(line?.["ts"]));
}

async function killAndAdd(fleet: Fleet): Promise<void> {
  const [dead, ...left] = fleet.replicas;
  const lost = keysOf(await fleet.runs(), dead!.pid);
  const died = Date.now();
  dead!.operator.signal("SIGKILL");
  fleet.replicas.shift();
  const again = await until(
    async () => {
      const since = (await fleet.runs()).filter(({ began, pid }) => began >= died && pid !== dead!.pid);
      const keys = new Set(since.map(({ key }) => key));
      return [...lost].every((key) => keys.has(key)) && since.filter(({ key }) => lost.has(key));
    },
    { within: 120_000, every: 1_000, what: "the keys of the one that was killed" },
  );
  const divided = Math.max(...left.map(({ operator }) => lastDivision(operator))) - died;
  const first = Math.min(...again.map(({ began }) => began)) - died;
  const last =
    Math.max(
      ...Map.groupBy(again, ({ key }) => key)
        .values()
        .map((runs) => runs[0]!.began),
    ) - died;
  console.log(
    `\nOne of 4 killed: the keys are divided anew after ${divided} ms, its ${lost.size} keys are worked again from ${first} ms on, and the last begins after ${last} ms.`,
  );
  const came = Date.now();
  const next = await fleet.begin();
  await fleet.divided([...left, next]);
  const joined = Date.now() - came;
  await until(async () => keysOf(await fleet.runs(), next.pid).size > (objects / 4) * 0.85, {
    within: 120_000,
    every: 100,
    what: "the new one has worked its share",
  });
  console.log(
    `One added: the keys are divided anew ${joined} ms after its start, and it has worked its share after ${Date.now() - came} ms. ` +
      `Runs of one key at once in all of this: ${overlaps(await fleet.runs()).length}.`,
  );
}

await using fleet = await Fleet.start({ wait: WAIT, concurrency: CONCURRENCY, divides: !values.whole });
const began = Date.now();
await fleet.fill(objects, BYTES);
console.log(
  `${objects} objects of ${BYTES} bytes, made in ${Math.round((Date.now() - began) / 1_000)} s; runs of ${WAIT} ms, ${CONCURRENCY} at a time ` +
    `per replica; the server ${values.whole ? "does not divide" : "divides"} collections. Per replica, unless it says otherwise:\n`,
);
row(
  "replicas",
  "drain s (all)",
  "with listing s (all)",
  "runs by replica",
  "objects kept",
  "RSS MiB",
  "CPU s of list and drain",
  "requests",
  "MiB received",
  `MiB received for ${CHANGES} changes`,
  "CPU s for them",
  "double runs (all)",
);
row(...Array.from({ length: 12 }, () => "---"));
for (const count of values.counts.split(",").map(Number)) {
  await measure(fleet, count);
  if (count === 4) await killAndAdd(fleet);
  await fleet.rest();
}
