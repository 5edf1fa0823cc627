/** Durations in the forms that authors write. */

type Unit = "ms" | "s" | "m" | "h";

/** Milliseconds, or a text in Go's style: "500ms", "1m30s", "2h15m". */
export type Duration =
  number | `${number}${Unit}` | `${number}h${number}m` | `${number}m${number}s` | `${number}h${number}m${number}s`;

const milliseconds: Readonly<Record<string, number>> = { h: 3_600_000, m: 60_000, s: 1000, ms: 1 };

/**
 * Returns the milliseconds of a duration.
 *
 * @param what the option's name for the error, such as `requeueAfter`.
 * @throws RangeError that names the option and shows the value.
 */
export function parseDuration(value: Duration, what: string): number {
  const result = typeof value === "string" ? parseText(value) : value;
  if (typeof result === "number" && Number.isFinite(result) && result >= 0) return result;
  throw new RangeError(
    `Cannot use ${typeof value === "string" ? JSON.stringify(value) : String(value)} as '${what}': ` +
      `a duration is a number of milliseconds, not negative, or text of h, m, s and ms such as "500ms", "30s", "1m30s" or "2h15m"`,
  );
}

function parseText(text: string): number | undefined {
  const parts = /^(?:([0-9.]+)h)?(?:([0-9.]+)m(?!s))?(?:([0-9.]+)s)?(?:([0-9.]+)ms)?$/.exec(text);
  if (parts === null || text === "") return undefined;
  let total = 0;
  for (const [index, unit] of ["h", "m", "s", "ms"].entries()) {
    const part = parts[index + 1];
    // Number() turns "1.2.3" and "." into NaN, which the caller rejects.
    if (part !== undefined) total += Number(part) * (milliseconds[unit] ?? Number.NaN);
  }
  return total;
}
