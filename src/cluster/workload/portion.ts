/** Numbers that may be given as percentages. */
import type { IntOrString } from "../../resource/builtin/index.ts";

/** Returns a number as it is, and a percentage of the total, rounded; an absent value counts as 0. */
export function portionOf(value: IntOrString | undefined, total: number, round: (exact: number) => number): number {
  return typeof value === "string" ? round((Number.parseInt(value, 10) * total) / 100) : (value ?? 0);
}
