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
