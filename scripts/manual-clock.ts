/** A clock that tests move by hand. */
import type { Clock } from "../src/platform/clock.ts";

interface Pending {
  readonly at: number;
  readonly order: number;
  readonly callback: () => void;
}

export class ManualClock implements Clock {
  #now: number;
  #order = 0;
  readonly #pending = new Set<Pending>();

  /** @param start milliseconds since the epoch. */
  constructor(start = 1_700_000_000_000) {
    this.#now = start;
  }

  now(): number {
    return this.#now;
  }

  /** How many timers wait. */
  get timers(): number {
    return this.#pending.size;
  }

  setTimeout(callback: () => void, ms: number): Disposable {
    const pending = { at: this.#now + Math.max(0, ms), order: this.#order++, callback };
    this.#pending.add(pending);
    return { [Symbol.dispose]: () => void this.#pending.delete(pending) };
  }

  /**
   * Moves on, firing timers in order; what they set off runs between them, with a turn of the event loop each.
   *
   * @param ms milliseconds.
   */
  async advance(ms: number): Promise<void> {
    const end = this.#now + ms;
    await turn();
    for (let next = this.#next(end); next; next = this.#next(end)) {
      this.#pending.delete(next);
      this.#now = Math.max(this.#now, next.at);
      next.callback();
      await turn();
    }
    this.#now = end;
  }

  #next(end: number): Pending | undefined {
    let first: Pending | undefined;
    for (const pending of this.#pending) {
      if (pending.at > end) continue;
      if (!first || pending.at < first.at || (pending.at === first.at && pending.order < first.order)) first = pending;
    }
    return first;
  }
}

function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
