/** The timer that ends a term even if nobody asks whether it lasts. */
import type { Clock } from "../platform/clock.ts";
import type { Term } from "./term.ts";

/** Ends a term when its time is up, even during a renewal. */
export class Fence implements Disposable {
  readonly #clock: Clock;
  readonly #term: Term;
  #timer: Disposable | undefined;

  constructor(clock: Clock, term: Term) {
    this.#clock = clock;
    this.#term = term;
    this.rearm();
  }

  rearm(): void {
    this.#timer?.[Symbol.dispose]();
    if (this.#term.ended === undefined) {
      this.#timer = this.#clock.setTimeout(() => this.rearm(), Math.max(1, this.#term.remaining));
    }
  }

  [Symbol.dispose](): void {
    this.#timer?.[Symbol.dispose]();
  }
}
