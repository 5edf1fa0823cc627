/**
 * Records the faults of `faults.ts`: runs the program in each of them for a quarter of an hour, all at the same time,
 * and keeps what Prometheus would have scraped, as promtool reads it.
 *
 *     node_modules/.bin/bun tests/monitoring/record.ts [NAME...]
 */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Bench } from "../support/binary.ts";
import { Cluster } from "../support/cluster.ts";
import { ALERTS } from "../../src/cli/deploy/monitoring/alerts.ts";
import { FAULTS, type Fault, type Provoked } from "./faults.ts";
import { metricsIn } from "./queries.ts";
import { INTERVAL, RECORDINGS, ScrapedSeries, SCRAPES } from "./scraped-series.ts";
import { stageOf } from "./stage.ts";

const wanted = new Set(ALERTS.flatMap(({ expr }) => [...metricsIn(expr("")).keys()]));
const names = process.argv.slice(2);
const faults = FAULTS.filter(({ name }) => names.length === 0 || names.includes(name));

const cleanup = new AsyncDisposableStack();
const cluster = cleanup.use(await Cluster.start({ controllers: true }));
const bench = cleanup.use(await Bench.create());
const runs: { readonly fault: Fault; readonly run: Provoked; readonly series: ScrapedSeries }[] = [];
for (const fault of faults) {
  const stage = stageOf({ name: fault.name, cluster, bench });
  const run = await fault.provoke({ ...stage, cleanup });
  for (const replica of run.replicas) cleanup.use(replica);
  runs.push({ fault, run, series: new ScrapedSeries(wanted) });
}
console.log(`${runs.length} runs are under way; they are scraped for ${(INTERVAL * SCRAPES) / 60} minutes`);
await Bun.sleep(20_000);
const began = performance.now();
const epoch = Math.floor(Date.now() / 1_000);
for (let scrape = 0; scrape <= SCRAPES; scrape++) {
  await Bun.sleep(Math.max(0, began + scrape * INTERVAL * 1_000 - performance.now()));
  await Promise.all(
    runs.map(async ({ run, series, fault }) => {
      const texts = await Promise.all(run.replicas.map((replica) => replica.metrics().catch(() => undefined)));
      for (const [index, text] of texts.entries()) series.add({ replica: index, scrape, epoch }, text);
      try {
        await run.at?.(scrape * INTERVAL);
      } catch (error) {
        console.error(`${fault.name}: ${String(error)}`);
      }
    }),
  );
}
for (const { fault, run, series } of runs) {
  await writeFile(join(RECORDINGS, `${fault.name}.json`), series.text());
  const verbose = await run.replicas[0]!.health("/readyz?verbose");
  console.log(`${fault.name}: ${verbose.body.replaceAll("\n", "; ")}`);
}
await cleanup.disposeAsync();
// What the proxy of a fault holds back would keep the process for an hour.
process.exit();
