/** The clock, injected wherever something waits, so that tests advance it instead of sleeping. */

/** The longest delay that a timer of the platform accepts; a longer one would fire at once. */
const LONGEST_TIMER = 2 ** 31 - 1;

export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /**
   * Calls back once after `ms` milliseconds; any length is allowed.
   *
   * @returns the timer; disposing it cancels it.
   */
  setTimeout(callback: () => void, ms: number): Disposable;
}

/** The machine's clock. */
export const systemClock: Clock = {
  now: () => Date.now(),
  setTimeout: (callback, ms) => (ms <= LONGEST_TIMER ? new Timer(callback, ms) : new LongTimer(callback, ms)),
};

const { timeOrigin } = performance;

/** A clock that advances steadily even when the machine's clock is set. */
const monotonicClock: Clock = {
  now: () => timeOrigin + performance.now(),
  setTimeout: (callback, ms) => systemClock.setTimeout(callback, ms),
};

/**
 * Returns the clock for measuring delays: the monotonic one in place of the machine's; any other clock is returned as
 * it is.
 */
export function monotonic(clock: Clock = systemClock): Clock {
  return clock === systemClock ? monotonicClock : clock;
}

class Timer implements Disposable {
  readonly #timer: ReturnType<typeof setTimeout>;

  constructor(callback: () => void, ms: number) {
    // The platform would print a warning for a negative delay.
    this.#timer = setTimeout(callback, Math.max(ms, 0));
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
  }
}

class LongTimer implements Disposable {
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(callback: () => void, ms: number) {
    this.#arm(callback, ms);
  }

  #arm(callback: () => void, ms: number): void {
    this.#timer =
      ms > LONGEST_TIMER
        ? setTimeout(() => this.#arm(callback, ms - LONGEST_TIMER), LONGEST_TIMER)
        : setTimeout(callback, ms);
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
  }
}

/**
 * Waits `ms` milliseconds.
 *
 * @throws the signal's reason when it aborts. No timer and no listener remain afterwards.
 */
export function sleep(ms: number, options: { clock?: Clock; signal?: AbortSignal | undefined } = {}): Promise<void> {
  const { clock = systemClock, signal } = options;
  if (signal?.aborted) return Promise.reject(signal.reason);
  return new Promise((resolve, reject) => {
    const onAbort = () => {
      timer[Symbol.dispose]();
      reject(signal?.reason);
    };
    const timer = clock.setTimeout(() => {
      signal?.removeEventListener("abort", onAbort);
      resolve();
    }, ms);
    signal?.addEventListener("abort", onAbort, { once: true });
  });
}
