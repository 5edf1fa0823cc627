/** How long the end of something may take. */
import { within } from "../controller/within.ts";
import { type Clock, monotonic } from "../platform/clock.ts";

/** Begins when it is made; what ends one step after another shares it. */
export class GracePeriod {
  readonly #clock: Clock;
  readonly #endsAt: number;

  constructor(ms: number, clock: Clock) {
    this.#clock = monotonic(clock);
    this.#endsAt = this.#clock.now() + ms;
  }

  /** Whole milliseconds. */
  get left(): number {
    return Math.max(0, Math.ceil(this.#endsAt - this.#clock.now()));
  }

  /**
   * Waits for work as long as the period lasts; then its signal fires.
   *
   * @param atLeast milliseconds that the work has in any case. @default 0
   * @returns whether it ended.
   */
  async within(work: (signal: AbortSignal) => Promise<unknown> | undefined, atLeast = 0): Promise<boolean> {
    const over = new AbortController();
    const ending = Promise.resolve(work(over.signal)).then(() => {});
    const hasEnded = await within(Math.max(this.left, atLeast), { work: ending, clock: this.#clock });
    if (!hasEnded) over.abort(new Error("the grace period is over"));
    return hasEnded;
  }
}
