/** Both servers, started for this, play the same cases at once. */
import { allCases, type Selected } from "./all-cases.ts";
import { runCases } from "./case.ts";
import { compareCases, type ExchangeDifference } from "./compare.ts";
import { discover } from "./discovery.ts";
import { embeddedTarget } from "./embedded.ts";
import { normalizeCase } from "./normalize.ts";
import { realTarget } from "./target.ts";

interface Played {
  /** How many exchanges there were. */
  readonly count: number;
  readonly differing: readonly ExchangeDifference[];
}

/** @param only the names of the cases that are played; all when absent */
export async function play(selected: Selected, only?: ReadonlySet<string>): Promise<Played> {
  await using real = await realTarget();
  await using embedded = await embeddedTarget();
  const cases = allCases(await discover(real), selected).filter(({ name }) => only === undefined || only.has(name));
  const [theirs, ours] = await Promise.all([runCases(real, cases), runCases(embedded, cases)]);
  const expected = theirs.map(normalizeCase);
  const actual = ours.map(normalizeCase);
  return {
    count: expected.reduce((sum, { exchanges }) => sum + exchanges.length, 0),
    differing: expected.flatMap((record, index) => compareCases(record, actual[index])),
  };
}

/** What differs each time: cases that differ are played once more, on new servers, since two busy ones differ by their timing. */
export async function playTwice(selected: Selected): Promise<Played> {
  const first = await play(selected);
  if (first.differing.length === 0) return first;
  const again = await play(selected, new Set(first.differing.map(({ caseName }) => caseName)));
  const before = new Set(first.differing.map(nameOf));
  return { count: first.count, differing: again.differing.filter((one) => before.has(nameOf(one))) };
}

function nameOf({ caseName, expected, actual }: ExchangeDifference): string {
  return `${caseName}: ${(expected ?? actual)?.label ?? ""}`;
}
