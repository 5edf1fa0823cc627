/** A clock for tests: time passes only when the test says so. */
import type { Clock } from "../platform/clock.ts";

interface Timer {
  readonly at: number;
  readonly callback: () => void;
}

/** Timers run inside `advance`, in the order of their times, each at its own time. */
export class FakeClock implements Clock {
  #now: number;
  readonly #timers = new Set<Timer>();

  /** @param now milliseconds since the epoch. @default 1_700_000_000_000 */
  constructor(now = 1_700_000_000_000) {
    this.#now = now;
  }

  /** Timers that have not run. */
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

  /** Lets time pass, timers that are set on the way included. */
  advance(ms: number): void {
    const until = this.#now + ms;
    for (let next = this.#next(until); next !== undefined; next = this.#next(until)) {
      this.#timers.delete(next);
      this.#now = Math.max(this.#now, next.at);
      next.callback();
    }
    this.#now = until;
  }

  #next(until: number): Timer | undefined {
    let next: Timer | undefined;
    for (const timer of this.#timers) {
      if (timer.at <= until && (next === undefined || timer.at < next.at)) next = timer;
    }
    return next;
  }
}
