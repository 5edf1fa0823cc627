/**
 * Runs suites by hand: `bun tests/suites/run.ts NAME.. [--server binnacle|real] [--only PATTERN] [--lanes N] [--all] [--record]`.
 * It prints a table of their parts and every spec that fails though it passes on the real control plane. Exits 1 when there is one.
 */

import yargs from "yargs";
import { hideBin } from "yargs/helpers";
import { inParallel } from "../../scripts/test-jobs.ts";
import { PartRuns } from "./part-runs.ts";
import { record } from "./record.ts";
import { lanes, outputOf, suites } from "./suites.ts";

const {
  _,
  server,
  only,
  lanes: limit,
  ...options
} = await yargs(hideBin(process.argv))
  .scriptName("suites")
  .command("$0", "Run suites that others wrote for kube-apiserver")
  .option("server", { choices: ["binnacle", "real"] as const, default: "binnacle" as const })
  .option("only", { type: "string", default: "", describe: "only the parts whose name matches this pattern" })
  .option("lanes", { type: "number", default: lanes(), describe: "run so many parts at once" })
  .option("all", { type: "boolean", default: false, describe: "all of Kubernetes' own suite, not a fixed fifth of it" })
  .option("record", { type: "boolean", default: false, describe: "keep the outcome as that of the real control plane" })
  .check(({ server, record }) => server === "real" || !record || "Only --server real can be recorded")
  .strictOptions()
  .parse();

for (const name of _.map(String)) {
  const suite = suites[name];
  if (suite === undefined)
    throw new Error(`Cannot find the suite '${name}': there are ${Object.keys(suites).join(", ")}`);
  const parts = await suite({ server, all: options.all, anew: options.record });
  const runs = new PartRuns(parts.filter(({ id }) => new RegExp(only).test(id)));
  const begin = performance.now();
  const jobs = runs.ids.map((id) => [id]);
  const first = await inParallel(jobs, limit, ([id = ""]) => runs.run(id));
  const seconds = (performance.now() - begin) / 1000;
  const failing = first.flatMap(({ files }) => files.filter(({ failed }) => failed > 0).map(({ file }) => [file]));
  const again = await inParallel(failing, 1, ([id = ""]) => runs.run(id));
  for (const line of [...runs.failures(), ...runs.table()]) console.log(line);
  console.log(`${name} on ${server}: ${seconds.toFixed(1)} s, logs in ${outputOf(server)}`);
  for (const { file, failures } of first.flatMap(({ files }) => files))
    for (const spec of failures) console.log(`failed at first: ${file}: ${spec}`);
  if (options.record) record(name, runs.runs);
  if (again.some(({ files }) => files.some(({ failed }) => failed > 0))) process.exitCode = 1;
}
