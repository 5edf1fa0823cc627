/** Rate limiters, which compute how long a key waits before it is retried. */

/** Counts the failures of keys and computes how long each waits. All times are in milliseconds. */
export interface RateLimiter {
  /** Counts one more failure of the key. @returns how long it waits. */
  delay(key: string): number;
  /** Resets the count of the key. */
  forget(key: string): void;
  failures(key: string): number;
  /**
   * Takes over the count of a key from another limiter, after a controller was reloaded with other options. A limiter
   * without this function counts from 0 again.
   */
  restore?(key: string, failures: number): void;
}

/** Counts the failures of each key and computes the delay from the number of earlier ones. */
class CountingLimiter implements RateLimiter {
  readonly #delayAfter: (failures: number) => number;
  readonly #counts = new Map<string, number>();

  constructor(delayAfter: (failures: number) => number) {
    this.#delayAfter = delayAfter;
  }

  delay(key: string): number {
    const before = this.failures(key);
    this.#counts.set(key, before + 1);
    return this.#delayAfter(before);
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

/**
 * The back-off of a key unless options say otherwise: after its first failure, and at most. @see client-go's
 * `DefaultControllerRateLimiter`
 */
export const DEFAULT_BACK_OFF: { readonly first: number; readonly max: number } = { first: 5, max: 1_000_000 };

/**
 * Doubles the delay of a key with each failure.
 *
 * @param base the delay of the first failure. @default {@link DEFAULT_BACK_OFF}
 * @param max the longest delay. @default {@link DEFAULT_BACK_OFF}
 */
export function exponential(base: number = DEFAULT_BACK_OFF.first, max: number = DEFAULT_BACK_OFF.max): RateLimiter {
  // Beyond 2^1023 the power is Infinity, which the maximum bounds.
  return new CountingLimiter((failures) => Math.min(base * 2 ** failures, max));
}

/** A short delay for the first `attempts` failures of a key, a long one after them. */
export function fastSlow({
  fast,
  slow,
  attempts,
}: {
  readonly fast: number;
  readonly slow: number;
  readonly attempts: number;
}): RateLimiter {
  return new CountingLimiter((failures) => (failures < attempts ? fast : slow));
}

export interface BucketOptions {
  /** Tokens per second. */
  readonly rate: number;
  /** The most tokens that accumulate. */
  readonly burst: number;
  /** The current time in milliseconds. */
  readonly now: () => number;
}

/** A token bucket that all keys share. */
export function bucket({ rate, burst, now }: BucketOptions): RateLimiter {
  /** Negative when delays were granted against future tokens. */
  let tokens = burst;
  let at = now();
  return new CountingLimiter(() => {
    const before = at;
    at = now();
    tokens = Math.min(burst, tokens + ((at - before) * rate) / 1000) - 1;
    return tokens >= 0 ? 0 : (-tokens * 1000) / rate;
  });
}

/** The longest of several delays. */
export function maxOf(...limiters: readonly RateLimiter[]): RateLimiter {
  return {
    delay: (key) => Math.max(0, ...limiters.map((limiter) => limiter.delay(key))),
    forget: (key) => limiters.forEach((limiter) => limiter.forget(key)),
    failures: (key) => Math.max(0, ...limiters.map((limiter) => limiter.failures(key))),
    restore: (key, failures) => limiters.forEach((limiter) => limiter.restore?.(key, failures)),
  };
}

/** Limits the delays of another limiter. */
export function withMaxWait(limiter: RateLimiter, max: number): RateLimiter {
  return {
    delay: (key) => Math.min(limiter.delay(key), max),
    forget: (key) => limiter.forget(key),
    failures: (key) => limiter.failures(key),
    restore: (key, failures) => limiter.restore?.(key, failures),
  };
}
