/** Decides which of many equal events are logged: the first of each kind within a minute. */
import { type Clock, systemClock } from "./clock.ts";

const WITHIN_MS = 60_000;

/** Limits equal events. It remembers each kind of event, so there must be few kinds. */
export class Seldom {
  readonly #clock: Clock;
  readonly #last = new Map<string | number, { readonly at: number; others: number }>();

  constructor(clock: Clock = systemClock) {
    this.#clock = clock;
  }

  /**
   * Called with each event.
   *
   * @returns the number of events of its kind that were left out since the last logged one; `undefined` when this one
   * must be left out too.
   */
  next(kind: string | number): number | undefined {
    const now = this.#clock.now();
    const last = this.#last.get(kind);
    if (last !== undefined && now - last.at < WITHIN_MS) {
      last.others++;
      return undefined;
    }
    this.#last.set(kind, { at: now, others: 0 });
    return last?.others ?? 0;
  }
}
