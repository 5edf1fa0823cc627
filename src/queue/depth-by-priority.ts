/** How many keys are ready, by priority: a few priorities, and nearly always the same one again. */

interface Depth {
  readonly priority: number;
  keys: number;
}

/** An author may give each key a priority of its own. */
const MAX_PRIORITIES = 32;

export class Depths {
  #depths: Depth[] = [];
  #last: Depth = { priority: NaN, keys: 0 };
  /** Of all priorities. */
  total = 0;

  count(priority: number, change: number): void {
    this.total += change;
    if (this.#last.priority !== priority) this.#last = this.#of(priority);
    this.#last.keys += change;
  }

  /** A priority once seen stays, at 0, as long as there are few. */
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
