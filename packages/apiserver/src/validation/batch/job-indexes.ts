/** Parses the indexes of a Job in their text form: `1,3-5,7`. */

/** Returns the number of indexes, or the mistake in the text. */
export function countIndexes(text: string, completions: number): number | string {
  if (text === "") return 0;
  let [last, total] = [-1, 0];
  for (const interval of text.split(",")) {
    const bounds = intervalOf(interval, completions);
    if (typeof bounds === "string") return bounds;
    const [from, to] = bounds;
    if (last >= from) return `non-increasing order, previous: ${last}, current: ${from}`;
    total += to - from + 1;
    last = to;
  }
  return total;
}

function intervalOf(interval: string, completions: number): readonly [number, number] | string {
  const limits = interval.split("-");
  if (limits.length > 2)
    return `the fragment ${JSON.stringify(interval)} violates the requirement that an index interval can have at most two parts separated by '-'`;
  const numbers: number[] = [];
  for (const limit of limits) {
    if (!/^[+-]?\d+$/.test(limit)) return `cannot convert string to integer for index: ${JSON.stringify(limit)}`;
    if (Number(limit) >= completions) return `too large index: ${JSON.stringify(limit)}`;
    numbers.push(Number(limit));
  }
  const [from = 0, to = from] = numbers;
  if (limits.length > 1 && from >= to) return `non-increasing order, previous: ${from}, current: ${to}`;
  return [from, to];
}
