/** Comparison by Bun. */

/** Whether two values are the same JSON; a property that is undefined counts as absent. */
export function deepEquals(one: unknown, other: unknown): boolean {
  return Bun.deepEquals(one, other);
}
