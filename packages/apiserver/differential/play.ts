/** Plays the same cases on pairs of servers that are started for this. */
import { allCases, type Selected } from "./all-cases.ts";
import { type Case, runCases } from "./case.ts";
import { compareCases, type ExchangeDifference } from "./compare.ts";
import { discover } from "./discovery.ts";
import type { CaseRecord, Target } from "./exchange.ts";
import { normalizeCase } from "./normalize.ts";
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
const PAIRS = 2;

interface PlayOptions {
  /** The names of the cases to play. @default all */
  readonly only?: ReadonlySet<string>;
  /** How many pairs of servers share the cases. @default 2 */
  readonly pairs?: number;
}

/** Plays the cases. */
export async function play(selected: Selected, { only, pairs = PAIRS }: PlayOptions = {}): Promise<Played> {
  const parts = Array.from({ length: pairs }, (_, index) => playPart(selected, { only, pairs, index }));
  const played = await Promise.all(parts);
  return {
    count: played.reduce((sum, { count }) => sum + count, 0),
    differing: played.flatMap(({ differing }) => differing),
  };
}

interface Part {
  readonly only: ReadonlySet<string> | undefined;
  readonly pairs: number;
  readonly index: number;
}

async function playPart(selected: Selected, { only, pairs, index }: Part): Promise<Played> {
  await using real = await realTarget();
  await using embedded = await targetUnderTest();
  const all = allCases(await discover(real), selected).filter(({ name }) => only === undefined || only.has(name));
  const cases = all.filter((_, position) => position % pairs === index);
  const [expected, actual] = await Promise.all([recordsOf(real, cases), recordsOf(embedded, cases)]);
  return {
    count: expected.reduce((sum, { exchanges }) => sum + exchanges.length, 0),
    differing: expected.flatMap((record, at) => compareCases(record, actual[at])),
  };
}

async function recordsOf(target: Target, cases: readonly Case[]): Promise<readonly CaseRecord[]> {
  return (await runCases(target, cases)).map(normalizeCase);
}

/** Cases that differ are played once more, on new servers, because two busy servers differ in timing. */
export async function playTwice(selected: Selected, pairs = PAIRS): Promise<Played> {
  const first = await play(selected, { pairs });
  if (first.differing.length === 0) return first;
  const names = new Set(first.differing.map(({ caseName }) => caseName));
  console.log(`played again: ${[...new Set(first.differing.map(nameOf))].slice(0, 20).join("; ")}`);
  // A start of the servers takes as long as hundreds of exchanges.
  const again = await play(selected, { only: names, pairs: names.size < 20 ? 1 : pairs });
  const before = new Set(first.differing.map(nameOf));
  return { count: first.count, differing: again.differing.filter((one) => before.has(nameOf(one))) };
}

function nameOf({ caseName, expected, actual }: ExchangeDifference): string {
  return `${caseName}: ${(expected ?? actual)?.label ?? ""}`;
}
