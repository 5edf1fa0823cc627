/** Keeps a minimum interval between the beginnings of two runs of one key. */

export class MinInterval {
  readonly #ms: number;
  /** When the last run of each key began, oldest first; an entry is dropped once it delays nothing. */
  readonly #began: Map<string, number>;

  /**
   * @param ms milliseconds between the beginnings of two runs.
   * @param before the interval whose runs count too.
   */
  constructor(ms: number, before?: MinInterval) {
    this.#ms = ms;
    this.#began = before === undefined ? new Map() : before.#began;
  }

  /** Milliseconds until the next run of a key may begin; 0 or less when it may begin now. */
  remaining(key: string, now: number): number {
    const began = this.#began.get(key);
    return began === undefined ? 0 : began + this.#ms - now;
  }

  /** A run of a key begins. */
  begin(key: string, now: number): void {
    for (const [old, at] of this.#began) {
      if (at + this.#ms > now) break;
      this.#began.delete(old);
    }
    this.#began.delete(key);
    this.#began.set(key, now);
  }
}
