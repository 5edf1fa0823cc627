/**
 * Sends the same requests to kube-apiserver and to the embedded server, and prints where the answers differ.
 *
 *     bun packages/apiserver/differential/run.ts [--only PATTERN] [--recorded | --save] [--help]
 *
 * Exits 1 when answers differ.
 */
import yargs from "yargs";
import { hideBin } from "yargs/helpers";
import { allCases } from "./all-cases.ts";
import { type CaseRecord, runCases, type Target } from "./case.ts";
import { compareCases } from "./compare.ts";
import { discover, type Served } from "./discovery.ts";
import { normalizeCase } from "./normalize.ts";
import { loadRecording, saveRecording } from "./recording.ts";
import { report } from "./report.ts";
import { realTarget, targetUnderTest } from "./servers.ts";

const options = await yargs(hideBin(process.argv))
  .scriptName("differential")
  .option("only", { type: "string", default: "", describe: "only cases whose name matches this pattern" })
  .option("recorded", { type: "boolean", describe: "compare with the recording instead of starting a kube-apiserver" })
  .option("save", {
    type: "boolean",
    describe: "record what kube-apiserver answers to these cases, and compare nothing",
  })
  .option("server", { choices: ["real", "embedded"] as const, default: "embedded", describe: "the server under test" })
  .option("first", { type: "number", default: 10, describe: "print so many differing exchanges in full" })
  .option("more", { type: "number", default: 1, describe: "multiply the number of generated exchanges" })
  .option("seed", { type: "number", default: 0, describe: "make other random walks" })
  .conflicts("recorded", "save")
  .strict()
  .parse();

const pattern = new RegExp(options.only);

/** Plays the chosen cases on a server. */
async function play(start: () => Promise<Target>, kinds?: readonly Served[]): Promise<[Served[], CaseRecord[]]> {
  await using target = await start();
  const served = [...(kinds ?? (await discover(target)))];
  const cases = allCases(served, options).filter(({ name }) => pattern.test(name));
  return [served, (await runCases(target, cases)).map(normalizeCase)];
}

if (options.save) {
  const [served, records] = await play(realTarget);
  const names = allCases(served, options).map(({ name }) => name);
  const before = options.only === "" ? [] : (await loadRecording()).records;
  const byName = new Map([...before, ...records].map((record) => [record.name, record]));
  await saveRecording({ served, records: names.flatMap((name) => byName.get(name) ?? []) });
  console.log(`${records.length} cases, ${count(records)} exchanges recorded`);
} else {
  const recording = options.recorded ? await loadRecording() : undefined;
  const [served, expected] = recording ? [recording.served, recording.records] : await play(realTarget);
  const [, actual] = await play(options.server === "real" ? realTarget : targetUnderTest, served);
  const byName = new Map(expected.map((record) => [record.name, record]));
  const differing = actual.flatMap((record) => compareCases(byName.get(record.name), record));
  console.log(report(differing, { first: options.first }));
  console.log(`${count(actual)} exchanges, ${differing.length} differ`);
  process.exitCode = differing.length > 0 ? 1 : 0;
}

function count(records: readonly CaseRecord[]): number {
  return records.reduce((sum, { exchanges }) => sum + exchanges.length, 0);
}
