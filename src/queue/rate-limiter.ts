/** Rate limiters: how long a key waits before it is retried. */

/** Counts the failures of keys and says how long each waits. All times are in milliseconds. */
export interface RateLimiter {
  /** Counts one more failure of the key. @returns how long it waits. */
  delay(key: string): number;
  /** Resets the count of the key. */
  forget(key: string): void;
  failures(key: string): number;
  /**
   * Sets the count of a key that another limiter has counted so far: a controller was reloaded with other options. A
   * limiter without it counts from 0 again.
   */
  restore?(key: string, failures: number): void;
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

  restore(key: string, failures: number): void {
    this.#counts.set(key, failures);
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
    // Beyond 2^1023 the power is Infinity, which the maximum bounds.
    return Math.min(this.#base * 2 ** this.count(key), this.#max);
  }
}

/** How long a key waits after its first failure, and at most, where nothing else is said. @see client-go's `DefaultControllerRateLimiter` */
export const DEFAULT_BACK_OFF: { readonly first: number; readonly max: number } = { first: 5, max: 1_000_000 };

/**
 * Doubles the delay of a key with each failure.
 *
 * @param base the delay of the first failure. @default {@link DEFAULT_BACK_OFF}
 * @param max the longest delay. @default {@link DEFAULT_BACK_OFF}
 */
export function exponential(base: number = DEFAULT_BACK_OFF.first, max: number = DEFAULT_BACK_OFF.max): RateLimiter {
  return new Exponential(base, max);
}

class FastSlow extends Failures implements RateLimiter {
  readonly #options: { readonly fast: number; readonly slow: number; readonly attempts: number };

  constructor(options: { readonly fast: number; readonly slow: number; readonly attempts: number }) {
    super();
    this.#options = options;
  }

  delay(key: string): number {
    const { fast, slow, attempts } = this.#options;
    return this.count(key) < attempts ? fast : slow;
  }
}

/** A short delay for the first `attempts` failures of a key, a long one after them. */
export function fastSlow(options: {
  readonly fast: number;
  readonly slow: number;
  readonly attempts: number;
}): RateLimiter {
  return new FastSlow(options);
}

class MaxOf implements RateLimiter {
  readonly #limiters: readonly RateLimiter[];

  constructor(limiters: readonly RateLimiter[]) {
    this.#limiters = limiters;
  }

  delay(key: string): number {
    let longest = 0;
    for (const limiter of this.#limiters) longest = Math.max(longest, limiter.delay(key));
    return longest;
  }

  forget(key: string): void {
    for (const limiter of this.#limiters) limiter.forget(key);
  }

  failures(key: string): number {
    let most = 0;
    for (const limiter of this.#limiters) most = Math.max(most, limiter.failures(key));
    return most;
  }

  restore(key: string, failures: number): void {
    for (const limiter of this.#limiters) limiter.restore?.(key, failures);
  }
}

/** The longest of several delays. */
export function maxOf(...limiters: readonly RateLimiter[]): RateLimiter {
  return new MaxOf(limiters);
}

export interface BucketOptions {
  /** Tokens per second. */
  readonly rate: number;
  /** The most tokens that accumulate. */
  readonly burst: number;
  /** The current time in milliseconds. */
  readonly now: () => number;
}

class Bucket extends Failures implements RateLimiter {
  readonly #options: BucketOptions;
  /** Negative when delays were granted against future tokens. */
  #tokens: number;
  #at: number;

  constructor(options: BucketOptions) {
    super();
    this.#options = options;
    this.#tokens = options.burst;
    this.#at = options.now();
  }

  delay(key: string): number {
    this.count(key);
    const { rate, burst, now } = this.#options;
    const at = now();
    this.#tokens = Math.min(burst, this.#tokens + ((at - this.#at) * rate) / 1000) - 1;
    this.#at = at;
    return this.#tokens >= 0 ? 0 : (-this.#tokens * 1000) / rate;
  }
}

/** A token bucket that all keys share. */
export function bucket(options: BucketOptions): RateLimiter {
  return new Bucket(options);
}

class WithMaxWait implements RateLimiter {
  readonly #limiter: RateLimiter;
  readonly #max: number;

  constructor(limiter: RateLimiter, max: number) {
    this.#limiter = limiter;
    this.#max = max;
  }

  delay(key: string): number {
    return Math.min(this.#limiter.delay(key), this.#max);
  }

  forget(key: string): void {
    this.#limiter.forget(key);
  }

  failures(key: string): number {
    return this.#limiter.failures(key);
  }

  restore(key: string, failures: number): void {
    this.#limiter.restore?.(key, failures);
  }
}

/** Bounds the delays of another limiter. */
export function withMaxWait(limiter: RateLimiter, max: number): RateLimiter {
  return new WithMaxWait(limiter, max);
}
