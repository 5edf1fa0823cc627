/** Plays the same cases on pairs of servers that are started for this. */
import { allCases, type Selected } from "./all-cases.ts";
import { type Case, runCases } from "./case.ts";
import { compareCases, type ExchangeDifference } from "./compare.ts";
import { discover } from "./discovery.ts";
import type { Target } from "./exchange.ts";
import { type Normalized, normalizeCase } from "./normalize.ts";
import { targetUnderTest } from "./process.ts";
import { realTarget } from "./target.ts";

interface Played {
  /** The number of exchanges. */
  readonly count: number;
  readonly differing: readonly ExchangeDifference[];
}

/**
 * Most of the time is spent waiting until kube-apiserver notices its own changes, so several pairs play a part of the
 * cases each.
 */
const PAIRS = 3;

/** Plays the cases. @param only the names of the cases to play; all when absent */
export async function play(selected: Selected, only?: ReadonlySet<string>): Promise<Played> {
  const pairs = Array.from({ length: PAIRS }, (_, index) => playPart(selected, { only, index }));
  const played = await Promise.all(pairs);
  return {
    count: played.reduce((sum, { count }) => sum + count, 0),
    differing: played.flatMap(({ differing }) => differing),
  };
}

async function playPart(
  selected: Selected,
  { only, index }: { readonly only: ReadonlySet<string> | undefined; readonly index: number },
): Promise<Played> {
  await using real = await realTarget();
  await using embedded = await targetUnderTest();
  const all = allCases(await discover(real), selected).filter(({ name }) => only === undefined || only.has(name));
  const cases = all.filter((_, position) => position % PAIRS === index);
  const [expected, actual] = await Promise.all([recordsOf(real, cases), recordsOf(embedded, cases)]);
  return {
    count: expected.reduce((sum, { exchanges }) => sum + exchanges.length, 0),
    differing: expected.flatMap((record, at) => compareCases(record, actual[at])),
  };
}

async function recordsOf(target: Target, cases: readonly Case[]): Promise<readonly Normalized[]> {
  return (await runCases(target, cases)).map(normalizeCase);
}

/** Cases that differ are played once more, on new servers, because two busy servers differ in timing. */
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
