/** How long a key waits before it is tried again. */

/** Counts the failures of keys and says how long each waits. All times in milliseconds. */
export interface RateLimiter {
  /** Counts one more failure of the key; how long it is to wait. */
  delay(key: string): number;
  /** The key is well again: the next failure is its first. */
  forget(key: string): void;
  failures(key: string): number;
}

class Failures {
  readonly #counts = new Map<string, number>();

  /** @returns how many there were before. */
  count(key: string): number {
    const before = this.#counts.get(key) ?? 0;
    this.#counts.set(key, before + 1);
    return before;
  }

  forget(key: string): void {
    this.#counts.delete(key);
  }

  failures(key: string): number {
    return this.#counts.get(key) ?? 0;
  }
}

class Exponential extends Failures implements RateLimiter {
  readonly #base: number;
  readonly #max: number;

  constructor(base: number, max: number) {
    super();
    this.#base = base;
    this.#max = max;
  }

  delay(key: string): number {
    // Beyond 2^1023 the power is Infinity, which the maximum cuts.
    return Math.min(this.#base * 2 ** this.count(key), this.#max);
  }
}

/**
 * Doubles the delay of a key with each failure.
 *
 * @param base of the first failure. @default 5
 * @param max never exceeded. @default 1_000_000
 */
export function exponential(base = 5, max = 1_000_000): RateLimiter {
  return new Exponential(base, max);
}
