/**
 * Sends the same requests to the real kube-apiserver and to the embedded one, and prints where the answers differ.
 *
 *     bun packages/apiserver/differential/run.ts [--only PATTERN] [--first N] [--server real|embedded] [--against FILE] [--save FILE]
 *         [--share PART] [--wrong PART] [--worlds PART] [--families PART] [--seed NUMBER]
 *
 * `--save` keeps the answers of the server and compares nothing; `--against` compares with such a file instead of a real
 * server. Exits 1 when a difference is left.
 */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import yargs from "yargs";
import { hideBin } from "yargs/helpers";
import { allCases, usual } from "./all-cases.ts";
import { parseAllowed, withoutAllowed } from "./allowed.ts";
import { runCases } from "./case.ts";
import { compareCases } from "./compare.ts";
import { discover, type Served } from "./discovery.ts";
import { normalizeCase } from "./normalize.ts";
import { targetUnderTest } from "./process.ts";
import { report } from "./report.ts";
import { loadRecording, type Recording, realTarget, saveRecording } from "./target.ts";

const options = await yargs(hideBin(process.argv))
  .scriptName("differential")
  .option("only", { type: "string", describe: "only cases whose name matches this pattern" })
  .option("first", { type: "number", default: 10, describe: "print so many differing exchanges in full" })
  .option("server", {
    choices: ["real", "embedded"] as const,
    default: "embedded",
    describe: "the server under test",
  })
  .option("share", { type: "number", default: usual.share, describe: "how many of the cases that vary each field" })
  .option("wrong", { type: "number", default: 1, describe: "how many of the creates with one wrong field" })
  .option("worlds", { type: "number", default: 1, describe: "how many of the worlds of roles and users" })
  .option("families", { type: "number", default: 1, describe: "how many of the exchanges of the families" })
  .option("seed", { type: "number", default: 0, describe: "chooses other random exchanges of strangers" })
  .option("against", { type: "string", describe: "a recording of the real server, instead of starting one" })
  .option("save", { type: "string", describe: "write the answers of the server under test to this file" })
  .strict()
  .parse();

const server = options.server === "real" ? "real" : "embedded";
const pattern = new RegExp(options.only ?? "");

async function recorded(server: "real" | "embedded", from: readonly Served[] | undefined): Promise<Recording> {
  await using target = await (server === "real" ? realTarget() : targetUnderTest());
  const served = from ?? (await discover(target));
  const cases = allCases(served, options).filter(({ name }) => pattern.test(name));
  return { served, records: await runCases(target, cases) };
}

if (options.save !== undefined) {
  const recording = await recorded(server, undefined);
  await saveRecording(options.save, recording);
  const count = recording.records.reduce((sum, { exchanges }) => sum + exchanges.length, 0);
  console.log(`${recording.records.length} cases, ${count} exchanges saved`);
} else {
  const expected = options.against ? await loadRecording(options.against) : await recorded("real", undefined);
  const actual = await recorded(server, expected.served);
  const ours = new Map(actual.records.map((record) => [record.name, normalizeCase(record)]));
  const theirs = expected.records.filter(({ name }) => pattern.test(name)).map(normalizeCase);
  const all = theirs.flatMap((record) => compareCases(record, ours.get(record.name)));
  const allowed = parseAllowed(await readFile(join(import.meta.dirname, "allowed.txt"), "utf8"));
  const left = withoutAllowed(all, allowed);
  const count = theirs.reduce((sum, { exchanges }) => sum + exchanges.length, 0);
  console.log(report(left, { first: options.first }));
  console.log(`${count} exchanges, ${left.length} differ (${all.length - left.length} more only where it is allowed)`);
  process.exitCode = left.length > 0 ? 1 : 0;
}
