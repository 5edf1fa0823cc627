/**
 * Plays random cases of children that others disturb, and prints which fall.
 *
 *     bun tests/drift/run.ts [--cases N] [--seed N] [--case K] [--server embedded|real] [--only PATTERN] [--first N] [--list]
 *
 * `--case` plays one case of a seed again and prints all of it. Exits 1 when a case falls.
 */
import yargs from "yargs";
import { hideBin } from "yargs/helpers";
import { playAll } from "./all-cases.ts";
import { describeCase, groups, lineOf, table } from "./report.ts";

const options = await yargs(hideBin(process.argv))
  .scriptName("drift")
  .option("cases", { type: "number", default: 1_000, describe: "how many cases" })
  .option("seed", { type: "number", default: 1, describe: "chooses the cases" })
  .option("case", { type: "number", describe: "only this case of the seed" })
  .option("server", { choices: ["embedded", "real"] as const, default: "embedded", describe: "where they are played" })
  .option("only", {
    type: "string",
    default: "",
    describe: "only kinds that match this pattern; other cases belong to a seed then",
  })
  .option("first", { type: "number", default: 10, describe: "print an example of so many groups of fallen cases" })
  .option("list", { type: "boolean", default: false, describe: "print a line for each fallen case, too" })
  .strict()
  .parse();

const { seed, only } = options;
const server = options.server === "real" ? "real" : "embedded";
const begin = performance.now();
const first = options.case ?? 0;
const count = options.case === undefined ? options.cases : 1;
const cases = await playAll({
  server,
  seed,
  first,
  count,
  only: new RegExp(only),
  progress: (line) => console.error(line),
});
const fallen = cases.filter(({ findings }) => findings.length > 0);
const dropped = cases.filter((one) => one.dropped !== undefined);
for (const [name, some] of groups(cases).slice(0, options.first)) {
  const shortest = some.toSorted((a, b) => describeCase(a, seed).length - describeCase(b, seed).length)[0]!;
  console.log(`${some.length} × ${name}\n${describeCase(shortest, seed)}\n`);
}
if (options.case !== undefined && fallen.length === 0)
  for (const one of cases) console.log(describeCase(one, seed), one.dropped ?? "");
if (options.list) for (const one of fallen) console.log(lineOf(one).slice(0, 300));
console.log(table(cases));
const reasons = Map.groupBy(dropped, (one) => one.dropped!.slice(0, 100));
for (const [reason, some] of reasons) console.log(`left out ${some.length}: ${reason}`);
const seconds = ((performance.now() - begin) / 1000).toFixed(1);
console.log(
  `${cases.length} cases on the ${server} server in ${seconds} s: ${fallen.length} fallen, ${dropped.length} left out`,
);
process.exit(fallen.length > 0 ? 1 : 0);
