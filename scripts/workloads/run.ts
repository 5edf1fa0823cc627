/**
 * Plays situations on a real cluster and on the embedded one, and prints where they differ.
 *
 *     bun scripts/workloads/run.ts [--only PATTERN] [--first N] [--sides real,embedded] [--show] [--all]
 *
 * `--sides real,real` shows what differs from run to run on the real cluster alone; `--show` prints the outcomes of the
 * second side; `--all` prints differences that `allowed.txt` allows, too. Exits 1 when a difference is left.
 */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import yargs from "yargs";
import { hideBin } from "yargs/helpers";
import { allSituations } from "./all-situations.ts";
import { compareOutcomes, describe, parseAllowed, withoutAllowed } from "./compare.ts";
import { play } from "./play.ts";
import { embeddedSide, realSide, type Side } from "./side.ts";

const options = await yargs(hideBin(process.argv))
  .scriptName("workloads")
  .option("only", { type: "string", describe: "only situations whose name matches this pattern" })
  .option("first", { type: "number", default: 30, describe: "print so many differences" })
  .option("sides", { type: "string", default: "real,embedded", describe: "what is compared" })
  .option("show", { type: "boolean", default: false, describe: "print the outcomes of the second side" })
  .option("all", { type: "boolean", default: false, describe: "print what is allowed, too" })
  .strict()
  .parse();

const pattern = new RegExp(options.only ?? "");
const situations = allSituations.filter(({ name }) => pattern.test(name));
const [first = "real", second = "embedded"] = options.sides.split(",");
await using one = await start(first);
await using other = await start(second);
const begin = performance.now();
const [expected, actual] = await play([one, other], situations);
console.log(`the situations took ${((performance.now() - begin) / 1000).toFixed(1)} s`);
if (options.show) console.log(JSON.stringify(Object.fromEntries(actual), null, 2));
const allowed = parseAllowed(await readFile(join(import.meta.dirname, "allowed.txt"), "utf8"));
const found = situations.flatMap(({ name }) => compareOutcomes(name, expected.get(name)!, actual.get(name)!));
const left = options.all ? found : withoutAllowed(found, allowed);
for (const difference of left.slice(0, options.first)) console.log(describe(difference));
const differing = new Set(left.map(({ situation }) => situation));
console.log(
  `${situations.length} situations, ${differing.size} differ in ${left.length} fields, ${found.length - left.length} more where it is allowed`,
);
process.exitCode = left.length > 0 ? 1 : 0;

function start(name: string): Promise<Side> {
  return name === "real" ? realSide() : embeddedSide();
}
