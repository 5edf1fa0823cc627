/** Delays a key until it has been left alone for a while, so that a burst of changes is one run. */

/** A key that is never left alone becomes ready after this many times the debounce time. */
const MOST_DEBOUNCES = 10;

export class Debouncer {
  readonly #ms: number;
  /** Since when each key has been delayed. */
  readonly #since: Map<string, number>;

  /**
   * @param ms how long a key must be left alone, in milliseconds.
   * @param before the debouncer whose delays go on.
   */
  constructor(ms: number, before?: Debouncer) {
    this.#ms = ms;
    this.#since = before === undefined ? new Map() : before.#since;
  }

  /** Whether a key is being delayed. */
  isDelaying(key: string): boolean {
    return this.#since.has(key);
  }

  /** Delays a key that was added, perhaps again. @returns when it becomes ready. */
  postpone(key: string, now: number): number {
    const since = this.#since.get(key) ?? now;
    this.#since.set(key, since);
    return Math.min(now + this.#ms, since + MOST_DEBOUNCES * this.#ms);
  }

  /** Ends the delay of a key. */
  forget(key: string): void {
    this.#since.delete(key);
  }
}
