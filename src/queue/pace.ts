/** How soon after another a run of the same key may begin. */

export interface PaceOptions {
  /** Milliseconds between the beginnings of two runs. */
  readonly minInterval: number;
  /** Milliseconds for which a key must be left alone. */
  readonly debounce: number;
}

/** A key that is never left alone runs after so many times its debounce. */
const MOST_DEBOUNCES = 10;

export class Pace {
  readonly debounce: number;
  readonly #minInterval: number;
  /** When the last run of a key began, oldest first, for as long as that delays another. */
  readonly #began = new Map<string, number>();
  /** Since when a key waits to be left alone. */
  readonly #restless = new Map<string, number>();

  constructor(options: PaceOptions) {
    this.debounce = options.debounce;
    this.#minInterval = options.minInterval;
  }

  /** Milliseconds until a run of the key may begin; not more than 0 when it may now. */
  wait(key: string, now: number): number {
    const began = this.#began.get(key);
    return began === undefined ? 0 : began + this.#minInterval - now;
  }

  /** Whether a key waits to be left alone. */
  isRestless(key: string): boolean {
    return this.#restless.has(key);
  }

  /** When a key that was added, perhaps again, is to be ready. */
  calm(key: string, now: number): number {
    const since = this.#restless.get(key) ?? now;
    this.#restless.set(key, since);
    const until = Math.min(now + this.debounce, since + MOST_DEBOUNCES * this.debounce);
    return Math.max(until, now + this.wait(key, now));
  }

  /** A key waits no more. */
  calmed(key: string): void {
    this.#restless.delete(key);
  }

  begins(key: string, now: number): void {
    if (this.#minInterval <= 0) return;
    for (const [old, at] of this.#began) {
      if (at + this.#minInterval > now) break;
      this.#began.delete(old);
    }
    this.#began.delete(key);
    this.#began.set(key, now);
  }
}
