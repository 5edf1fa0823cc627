/** What differs between two clusters, and not by chance. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { type Allowed, compareOutcomes, type Difference, parseAllowed, withoutAllowed } from "./compare.ts";
import { play } from "./play.ts";
import type { Side } from "./side.ts";
import type { Situation } from "./situation.ts";

export interface Compared {
  /** Differences of the last play of each situation. */
  readonly all: readonly Difference[];
  /** Those that are not allowed. */
  readonly left: readonly Difference[];
  /** What differed when the situations were played first. */
  readonly first: readonly Difference[];
}

/** How often a situation that differs is played. */
const ATTEMPTS = 4;

/**
 * Plays the situations; what differs is played again, by itself and later with few beside it, since on a busy machine a deadline
 * may pass while nobody gets a turn. What never comes out alike differs.
 */
export async function differences(sides: readonly [Side, Side], situations: readonly Situation[]): Promise<Compared> {
  const allowed = parseAllowed(await readFile(join(import.meta.dirname, "allowed.txt"), "utf8"));
  const first = await played(sides, situations, { allowed, attempt: 1 });
  let last = first;
  for (let attempt = 2; attempt <= ATTEMPTS && last.left.length > 0; attempt++) {
    const differing = new Set(last.left.map(({ situation }) => situation));
    const again = situations.filter(({ name }) => differing.has(name));
    const others = last.all.filter(({ situation }) => !differing.has(situation));
    const { all, left } = await played(sides, again, { allowed, attempt });
    last = { all: [...others, ...all], left };
  }
  return { ...last, first: first.left };
}

interface Attempt {
  readonly allowed: readonly Allowed[];
  readonly attempt: number;
}

async function played(
  sides: readonly [Side, Side],
  situations: readonly Situation[],
  { allowed, attempt }: Attempt,
): Promise<Omit<Compared, "first">> {
  const [expected, actual] = await play(sides, situations, attempt);
  const all = situations.flatMap(({ name }) => compareOutcomes(name, expected.get(name)!, actual.get(name)!));
  return { all, left: withoutAllowed(all, allowed) };
}
