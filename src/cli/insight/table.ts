/** Tables for people: aligned columns, of which the last may be long. */

/** Returns lines with a heading; a column that is empty everywhere is left out. */
export function table(heading: readonly string[], rows: readonly (readonly string[])[]): string {
  const columns = heading.map((_, index) => index).filter((index) => rows.some((row) => row[index] !== ""));
  const width = (index: number): number =>
    Math.max(heading[index]!.length, ...rows.map((row) => (row[index] ?? "").length));
  const widths = new Map(columns.map((index) => [index, width(index)]));
  return [heading, ...rows]
    .map((row) =>
      columns
        .map((index) => (row[index] ?? "").padEnd(widths.get(index)!))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}

/** Writes milliseconds as `850ms`, `12s`, `5m30s`, `3h5m`, `4d2h`. */
export function age(ms: number): string {
  if (ms < 1_000) return `${Math.max(0, Math.round(ms))}ms`;
  const units: readonly (readonly [string, number])[] = [
    ["d", 86_400_000],
    ["h", 3_600_000],
    ["m", 60_000],
    ["s", 1_000],
  ];
  const first = units.findIndex(([, length]) => ms >= length);
  const [name, length] = units[first]!;
  const [lesser, small] = units[first + 1] ?? ["", 0];
  const rest = small === 0 ? 0 : Math.floor((ms % length) / small);
  return `${Math.floor(ms / length)}${name}${rest > 0 ? `${rest}${lesser}` : ""}`;
}

/** Writes bytes as `512 B`, `3.4 KiB`, `12 MiB`. */
export function size(bytes: number): string {
  const units = ["B", "KiB", "MiB", "GiB"];
  let value = bytes;
  let unit = 0;
  while (value >= 1024 && unit < units.length - 1) {
    value /= 1024;
    unit++;
  }
  return `${value < 10 && unit > 0 ? value.toFixed(1) : Math.round(value)} ${units[unit]}`;
}
