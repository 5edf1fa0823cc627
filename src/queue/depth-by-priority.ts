/** Counts ready keys by priority. There are few priorities, and consecutive calls are nearly always for the same one. */

interface Depth {
  readonly priority: number;
  keys: number;
}

/** A bound on unused priorities, because an author may give each key a priority of its own. */
const MAX_PRIORITIES = 32;

export class DepthByPriority {
  #depths: Depth[] = [];
  #last: Depth = { priority: NaN, keys: 0 };
  /** The count over all priorities. */
  total = 0;

  count(priority: number, change: number): void {
    this.total += change;
    if (this.#last.priority !== priority) this.#last = this.#of(priority);
    this.#last.keys += change;
  }

  /** The counts by priority. A priority that was used stays, at 0, while there are few. */
  byPriority(): ReadonlyMap<number, number> {
    return new Map(this.#depths.map(({ priority, keys }) => [priority, keys]));
  }

  clear(): void {
    for (const depth of this.#depths) depth.keys = 0;
    this.total = 0;
  }

  #of(priority: number): Depth {
    let depth = this.#depths.find((one) => one.priority === priority);
    if (depth === undefined) {
      if (this.#depths.length >= MAX_PRIORITIES) this.#depths = this.#depths.filter(({ keys }) => keys > 0);
      this.#depths.push((depth = { priority, keys: 0 }));
    }
    return depth;
  }
}
