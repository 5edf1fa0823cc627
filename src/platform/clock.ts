/** Time, injected wherever something waits, so that tests advance it instead of sleeping. */

/** The longest delay a timer of the platform takes; a longer one would fire at once. */
const LONGEST_TIMER = 2 ** 31 - 1;

export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /**
   * Calls back once, after `ms` milliseconds of any length.
   *
   * @returns what cancels it.
   */
  setTimeout(callback: () => void, ms: number): Disposable;
}

/** The machine's clock. */
export const systemClock: Clock = {
  now: () => Date.now(),
  setTimeout: (callback, ms) => (ms <= LONGEST_TIMER ? new Timer(callback, ms) : new LongTimer(callback, ms)),
};

const { timeOrigin } = performance;

/** Goes on evenly, also when the machine's clock is set. */
const evenClock: Clock = {
  now: () => timeOrigin + performance.now(),
  setTimeout: (callback, ms) => systemClock.setTimeout(callback, ms),
};

/** For delays alone: the machine's clock as it goes on when nobody sets it; any other clock is taken as it is. */
export function evenly(clock: Clock = systemClock): Clock {
  return clock === systemClock ? evenClock : clock;
}

class Timer implements Disposable {
  readonly #timer: ReturnType<typeof setTimeout>;

  constructor(callback: () => void, ms: number) {
    // What is due already is due now: the platform would write a warning.
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
 * @throws the signal's reason when it aborts; no timer and no listener stay behind.
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
