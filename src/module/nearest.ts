/** Finds the name that was probably meant. */

/** Returns the restricted edit distance: insertions, deletions, substitutions and swaps of neighbours. */
function distance(a: string, b: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row++) {
    const current = [row];
    for (let column = 1; column <= b.length; column++) {
      const same = a[row - 1] === b[column - 1];
      let best = Math.min(last[column]! + 1, current[column - 1]! + 1, last[column - 1]! + (same ? 0 : 1));
      if (row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1]) {
        best = Math.min(best, beforeLast[column - 2]! + 1);
      }
      current.push(best);
    }
    beforeLast = last;
    last = current;
  }
  return last[b.length]!;
}

/** Returns the candidate closest to `name`; `undefined` when none is close enough. */
export function nearest(name: string, candidates: Iterable<string>): string | undefined {
  const wanted = name.toLowerCase();
  let closest: string | undefined;
  let best = Math.max(2, Math.floor(name.length / 3)) + 1;
  for (const candidate of candidates) {
    const away = distance(wanted, candidate.toLowerCase());
    if (away < best) [closest, best] = [candidate, away];
  }
  return closest;
}

/** Returns ` (did you mean 'x'?)`, or nothing. */
export function suggestion(name: string, candidates: Iterable<string>): string {
  const closest = nearest(name, candidates);
  return closest === undefined ? "" : `, did you mean '${closest}'?`;
}
