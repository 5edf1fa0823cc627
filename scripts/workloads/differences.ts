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

/**
 * Plays the situations; what differs is played once more, by itself, since on a busy machine a deadline may pass while
 * nobody gets a turn.
 */
export async function differences(sides: readonly [Side, Side], situations: readonly Situation[]): Promise<Compared> {
  const allowed = parseAllowed(await readFile(join(import.meta.dirname, "allowed.txt"), "utf8"));
  const first = await played(sides, situations, { allowed, attempt: 1 });
  const differing = new Set(first.left.map(({ situation }) => situation));
  const again = situations.filter(({ name }) => differing.has(name));
  if (again.length === 0) return { ...first, first: [] };
  const second = await played(sides, again, { allowed, attempt: 2 });
  const others = first.all.filter(({ situation }) => !differing.has(situation));
  return { all: [...others, ...second.all], left: second.left, first: first.left };
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
