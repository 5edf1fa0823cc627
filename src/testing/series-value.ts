/** Reads single values of metrics in Prometheus' text format. */

const LINE = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (\S+)$/gm;
const LABEL = /(?<![a-zA-Z0-9_])([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\]|\\.)*)"/g;
const ESCAPED: Readonly<Record<string, string>> = { n: "\n", "\\": "\\", '"': '"' };

/** Returns the sum of the series with this name and these labels, among others; `undefined` when there is none. */
export function seriesValue(
  text: string,
  name: string,
  wanted: Readonly<Record<string, string>> = {},
): number | undefined {
  let sum: number | undefined;
  for (const [, series, labels = "", value] of text.matchAll(LINE)) {
    if (series !== name) continue;
    const has = new Map<string, string>();
    for (const [, label = "", escaped = ""] of labels.matchAll(LABEL))
      has.set(
        label,
        escaped.replaceAll(/\\(.)/g, (_, char: string) => ESCAPED[char] ?? char),
      );
    if (Object.entries(wanted).every(([label, text]) => has.get(label) === text))
      sum = (sum ?? 0) + Number(value!.replace("Inf", "Infinity"));
  }
  return sum;
}
