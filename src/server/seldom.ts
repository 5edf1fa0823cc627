/** Tells what may happen at any rate once in a while. */
import { type Clock, systemClock } from "../platform/clock.ts";

const WITHIN_MS = 60_000;

/** Kinds must be few: each is remembered. */
export class Seldom {
  readonly #clock: Clock;
  readonly #told = new Map<string | number, { readonly at: number; others: number }>();

  constructor(clock: Clock = systemClock) {
    this.#clock = clock;
  }

  /**
   * Whether an event is to be told, which is the first of its kind within a minute. @returns the number of those that were not told
   * before it; `undefined` when it is not to be told either.
   */
  next(kind: string | number): number | undefined {
    const now = this.#clock.now();
    const told = this.#told.get(kind);
    if (told !== undefined && now - told.at < WITHIN_MS) {
      told.others++;
      return undefined;
    }
    this.#told.set(kind, { at: now, others: 0 });
    return told?.others ?? 0;
  }
}
