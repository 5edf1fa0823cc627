/**
 * Plays situations on a real cluster and on the embedded one, and prints where they differ.
 *
 *     bun tests/workloads/run.ts [--only PATTERN] [--first N] [--sides real,embedded] [--all]
 *
 * `--sides real,real` shows what differs from run to run on the real cluster alone; `--all` prints differences that
 * `allowed.txt` allows, too. Exits 1 when a difference is left.
 */
import yargs from "yargs";
import { hideBin } from "yargs/helpers";
import { allSituations } from "./all-situations.ts";
import { describe } from "./compare.ts";
import { differences } from "./differences.ts";
import { embeddedSide, realSide, type Side } from "./side.ts";

const options = await yargs(hideBin(process.argv))
  .scriptName("workloads")
  .option("only", { type: "string", describe: "only situations whose name matches this pattern" })
  .option("first", { type: "number", default: 30, describe: "print so many differences" })
  .option("sides", { type: "string", default: "real,embedded", describe: "what is compared" })
  .option("all", { type: "boolean", default: false, describe: "print what is allowed, too" })
  .strict()
  .parse();

const pattern = new RegExp(options.only ?? "");
const situations = allSituations.filter(({ name }) => pattern.test(name));
const [first = "real", second = "embedded"] = options.sides.split(",");
await using one = await start(first);
await using other = await start(second);
const begin = performance.now();
const { all, left, first: chance } = await differences([one, other], situations);
console.log(`the situations took ${((performance.now() - begin) / 1000).toFixed(1)} s`);
for (const difference of (options.all ? all : left).slice(0, options.first)) console.log(describe(difference));
for (const { situation, field } of chance) console.log(`played again: ${situation}, for ${field}`);
const differing = new Set(left.map(({ situation }) => situation));
console.log(
  `${situations.length} situations, ${differing.size} differ in ${left.length} fields, ${all.length - left.length} more where it is allowed`,
);
process.exitCode = left.length > 0 ? 1 : 0;

function start(name: string): Promise<Side> {
  return name === "real" ? realSide() : embeddedSide();
}
