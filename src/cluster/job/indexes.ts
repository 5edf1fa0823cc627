/** Sets of completion indexes in the form of a Job's status: `1,3-5,7`. */

export interface Interval {
  readonly first: number;
  readonly last: number;
}

/** The intervals in ascending order; no two of them touch. */
export class Indexes {
  readonly intervals: readonly Interval[];

  private constructor(intervals: readonly Interval[]) {
    this.intervals = intervals;
  }

  static readonly none: Indexes = new Indexes([]);

  static of(indexes: Iterable<number>): Indexes {
    return Indexes.#joined([...indexes].map((index) => ({ first: index, last: index })));
  }

  /** Parses the form; anything that is not a number below `completions` is ignored. */
  static parse(text: string | undefined, completions: number): Indexes {
    const intervals: Interval[] = [];
    for (const part of (text ?? "").split(",")) {
      const [first, last] = part.split("-");
      if (first === undefined || !/^\d+$/.test(first) || (last !== undefined && !/^\d+$/.test(last))) continue;
      if (Number(first) >= completions) break;
      intervals.push({ first: Number(first), last: Math.min(Number(last ?? first), completions - 1) });
    }
    return Indexes.#joined(intervals);
  }

  static #joined(intervals: readonly Interval[]): Indexes {
    const joined: Interval[] = [];
    for (const interval of intervals.toSorted((a, b) => a.first - b.first)) {
      const before = joined.at(-1);
      if (before === undefined || interval.first > before.last + 1) joined.push(interval);
      else joined[joined.length - 1] = { first: before.first, last: Math.max(before.last, interval.last) };
    }
    return new Indexes(joined);
  }

  get size(): number {
    return this.intervals.reduce((size, { first, last }) => size + last - first + 1, 0);
  }

  has(index: number): boolean {
    return this.intervals.some(({ first, last }) => first <= index && index <= last);
  }

  with(others: Indexes): Indexes {
    return Indexes.#joined([...this.intervals, ...others.intervals]);
  }

  /** Counts the indexes that are in both sets. */
  overlap(others: Indexes): number {
    let size = 0;
    for (const a of this.intervals) {
      for (const b of others.intervals) {
        size += Math.max(0, Math.min(a.last, b.last) - Math.max(a.first, b.first) + 1);
      }
    }
    return size;
  }

  /** Returns at most `count` of the first indexes below `end` that are missing here. */
  missing(count: number, end: number): number[] {
    const missing: number[] = [];
    let candidate = 0;
    for (const { first, last } of [...this.intervals, { first: end, last: end }]) {
      for (; candidate < first && candidate < end && missing.length < count; candidate++) missing.push(candidate);
      candidate = Math.max(candidate, last + 1);
    }
    return missing;
  }

  toString(): string {
    return this.intervals
      .map(({ first, last }) => (last === first ? first : `${first}${last === first + 1 ? "," : "-"}${last}`))
      .join(",");
  }
}
