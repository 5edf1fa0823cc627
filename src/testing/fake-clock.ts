/** A clock for tests: time passes only when the test advances it. */
import type { Clock } from "../platform/clock.ts";

interface Timer {
  readonly at: number;
  readonly callback: () => void;
}

/** Timers run while time advances, in the order of their times, each at its own time. */
export class FakeClock implements Clock {
  #now: number;
  readonly #timers = new Set<Timer>();

  /** @param now milliseconds since the epoch. @default 1_700_000_000_000 */
  constructor(now = 1_700_000_000_000) {
    this.#now = now;
  }

  /** The number of timers that have not run. */
  get timers(): number {
    return this.#timers.size;
  }

  now(): number {
    return this.#now;
  }

  setTimeout(callback: () => void, ms: number): Disposable {
    const timer: Timer = { at: this.#now + Math.max(0, ms), callback };
    this.#timers.add(timer);
    return { [Symbol.dispose]: () => void this.#timers.delete(timer) };
  }

  /** Advances the clock by `ms` milliseconds at once, and runs timers that are due, including those that these set. */
  advance(ms: number): void {
    const until = this.#now + ms;
    while (this.#runNext(until));
    this.#now = until;
  }

  /** Advances the clock by `ms` milliseconds, with a turn of the event loop before and after each timer. */
  async advanceInTurns(ms: number): Promise<void> {
    const until = this.#now + ms;
    do await turn();
    while (this.#runNext(until));
    this.#now = until;
  }

  #runNext(until: number): boolean {
    const next = this.#next(until);
    if (next === undefined) return false;
    this.#timers.delete(next);
    this.#now = Math.max(this.#now, next.at);
    next.callback();
    return true;
  }

  #next(until: number): Timer | undefined {
    let next: Timer | undefined;
    for (const timer of this.#timers) {
      if (timer.at <= until && (next === undefined || timer.at < next.at)) next = timer;
    }
    return next;
  }
}

function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
