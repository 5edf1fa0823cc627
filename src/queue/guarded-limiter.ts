/** Guards a queue against the author's rate limiter: an error of it must not cost a key its retries. */
import { exponential, type RateLimiter } from "./rate-limiter.ts";

export interface GuardedLimiterOptions {
  /** Calls the limiter in the context of its module. */
  readonly invoke: <T>(call: () => T) => T;
  /** Called with the first error. */
  readonly onError: (error: unknown) => void;
}

/** Uses the default back-off when the limiter throws or returns no number. */
export class GuardedLimiter implements RateLimiter {
  readonly #limiter: RateLimiter;
  readonly #options: GuardedLimiterOptions;
  readonly #default: RateLimiter = exponential();
  #hasReported = false;

  constructor(limiter: RateLimiter, options: GuardedLimiterOptions) {
    this.#limiter = limiter;
    this.#options = options;
  }

  delay(key: string): number {
    const otherwise = this.#default.delay(key);
    return this.#number("delay", () => this.#limiter.delay(key)) ?? otherwise;
  }

  forget(key: string): void {
    this.#default.forget(key);
    this.#call(() => this.#limiter.forget(key));
  }

  failures(key: string): number {
    return this.#number("failures", () => this.#limiter.failures(key)) ?? this.#default.failures(key);
  }

  restore(key: string, failures: number): void {
    this.#default.restore?.(key, failures);
    this.#call(() => this.#limiter.restore?.(key, failures));
  }

  #number(method: string, call: () => number): number | undefined {
    return this.#call(() => {
      const answer = call();
      if (Number.isFinite(answer)) return answer;
      throw new TypeError(`${method}() returned ${String(answer)}: expected a number`);
    });
  }

  #call<T>(call: () => T): T | undefined {
    try {
      return this.#options.invoke(call);
    } catch (error) {
      if (!this.#hasReported) this.#options.onError(error);
      this.#hasReported = true;
      return undefined;
    }
  }
}
