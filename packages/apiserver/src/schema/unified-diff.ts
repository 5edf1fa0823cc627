/**
 * Computes the difference of two texts line by line, as Go's difflib does. @see
 * https://docs.python.org/3/library/difflib.html
 */

/** The lines of one side that correspond to lines of the other. */
interface Block {
  readonly left: number;
  readonly right: number;
  readonly size: number;
}

interface Change {
  readonly kind: "equal" | "replace" | "delete" | "insert";
  readonly from: number;
  readonly to: number;
  readonly start: number;
  readonly end: number;
}

const context = 3;

export function unifiedDiff(left: string, right: string): string {
  const [a, b] = [lines(left), lines(right)];
  let text = "";
  for (const group of grouped(changes(a, b))) {
    const [first, last] = [group[0], group.at(-1)];
    if (!first || !last) continue;
    text += `@@ -${range(first.from, last.to)} +${range(first.start, last.end)} @@\n`;
    for (const { kind, from, to, start, end } of group) {
      if (kind === "equal") for (const line of a.slice(from, to)) text += ` ${line}`;
      if (kind === "replace" || kind === "delete") for (const line of a.slice(from, to)) text += `-${line}`;
      if (kind === "replace" || kind === "insert") for (const line of b.slice(start, end)) text += `+${line}`;
    }
  }
  return text;
}

function lines(text: string): string[] {
  return text.split("\n").map((line) => `${line}\n`);
}

function range(start: number, stop: number): string {
  const length = stop - start;
  if (length === 1) return String(start + 1);
  return `${length === 0 ? start : start + 1},${length}`;
}

function changes(a: readonly string[], b: readonly string[]): Change[] {
  const found: Change[] = [];
  let [i, j] = [0, 0];
  for (const { left, right, size } of matchingBlocks(a, b)) {
    const kind = i < left && j < right ? "replace" : i < left ? "delete" : j < right ? "insert" : undefined;
    if (kind) found.push({ kind, from: i, to: left, start: j, end: right });
    [i, j] = [left + size, right + size];
    if (size > 0) found.push({ kind: "equal", from: left, to: i, start: right, end: j });
  }
  return found;
}

function grouped(all: readonly Change[]): Change[][] {
  const codes = all.map((each) => ({ ...each }));
  const [first, last] = [codes[0], codes.at(-1)];
  if (first?.kind === "equal") {
    first.from = Math.max(first.from, first.to - context);
    first.start = Math.max(first.start, first.end - context);
  }
  if (last?.kind === "equal") {
    last.to = Math.min(last.to, last.from + context);
    last.end = Math.min(last.end, last.start + context);
  }
  const groups: Change[][] = [];
  let group: Change[] = [];
  for (const code of codes) {
    let { from, start } = code;
    if (code.kind === "equal" && code.to - from > context * 2) {
      group.push({ ...code, to: Math.min(code.to, from + context), end: Math.min(code.end, start + context) });
      groups.push(group);
      group = [];
      from = Math.max(from, code.to - context);
      start = Math.max(start, code.end - context);
    }
    group.push({ ...code, from, start });
  }
  if (group.length > 0 && !(group.length === 1 && group[0]?.kind === "equal")) groups.push(group);
  return groups;
}

function matchingBlocks(a: readonly string[], b: readonly string[]): Block[] {
  const places = placesOf(b);
  const matched: Block[] = [];
  const match = (alo: number, ahi: number, [blo, bhi]: readonly [number, number]): void => {
    const block = longest(a, b, { places, alo, ahi, blo, bhi });
    if (block.size === 0) return;
    const { left, right, size } = block;
    if (alo < left && blo < right) match(alo, left, [blo, right]);
    matched.push(block);
    if (left + size < ahi && right + size < bhi) match(left + size, ahi, [right + size, bhi]);
  };
  match(0, a.length, [0, b.length]);
  const joined: Block[] = [];
  let [left, right, size] = [0, 0, 0];
  for (const block of matched) {
    if (left + size === block.left && right + size === block.right) {
      size += block.size;
      continue;
    }
    if (size > 0) joined.push({ left, right, size });
    ({ left, right, size } = block);
  }
  if (size > 0) joined.push({ left, right, size });
  return [...joined, { left: a.length, right: b.length, size: 0 }];
}

/** Finds the places of each line; lines that occur everywhere are ignored. */
function placesOf(b: readonly string[]): Map<string, number[]> {
  const places = new Map<string, number[]>();
  for (const [index, line] of b.entries()) {
    const known = places.get(line);
    if (known) known.push(index);
    else places.set(line, [index]);
  }
  if (b.length >= 200) {
    const most = Math.floor(b.length / 100) + 1;
    for (const [line, found] of places) if (found.length > most) places.delete(line);
  }
  return places;
}

interface Bounds {
  readonly places: ReadonlyMap<string, readonly number[]>;
  readonly alo: number;
  readonly ahi: number;
  readonly blo: number;
  readonly bhi: number;
}

function longest(a: readonly string[], b: readonly string[], { places, alo, ahi, blo, bhi }: Bounds): Block {
  let [left, right, size] = [alo, blo, 0];
  let lengths = new Map<number, number>();
  for (let i = alo; i < ahi; i++) {
    const next = new Map<number, number>();
    for (const j of places.get(a[i] ?? "") ?? []) {
      if (j < blo) continue;
      if (j >= bhi) break;
      const length = (lengths.get(j - 1) ?? 0) + 1;
      next.set(j, length);
      if (length > size) [left, right, size] = [i - length + 1, j - length + 1, length];
    }
    lengths = next;
  }
  while (left > alo && right > blo && a[left - 1] === b[right - 1]) {
    left -= 1;
    right -= 1;
    size += 1;
  }
  while (left + size < ahi && right + size < bhi && a[left + size] === b[right + size]) size += 1;
  return { left, right, size };
}
