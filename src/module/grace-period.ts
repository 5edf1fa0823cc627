/** How long the end of something may take. */
import { within } from "../controller/within.ts";
import { type Clock, monotonic } from "../platform/clock.ts";

/** Milliseconds that work has also after what came before it has taken all of the period. */
const LAST_MOMENT = 100;

/** Begins when it is made; what ends one step after another shares it. */
export class GracePeriod {
  /** Milliseconds from its beginning to its end. */
  readonly ms: number;
  readonly #clock: Clock;
  readonly #endsAt: number;
  readonly #atLeast: number;

  constructor(ms: number, clock: Clock) {
    this.ms = ms;
    this.#clock = monotonic(clock);
    this.#endsAt = this.#clock.now() + ms;
    this.#atLeast = Math.min(ms, LAST_MOMENT);
  }

  /** Whole milliseconds. */
  get left(): number {
    return Math.max(0, Math.ceil(this.#endsAt - this.#clock.now()));
  }

  /**
   * Waits for work as long as the period lasts; then its signal fires. Work that begins when the period is over has a moment
   * to heed what it is told.
   *
   * @returns whether it ended.
   */
  async within(work: (signal: AbortSignal) => Promise<unknown> | undefined): Promise<boolean> {
    const over = new AbortController();
    const ending = Promise.resolve(work(over.signal)).then(() => {});
    const hasEnded = await within(Math.max(this.left, this.#atLeast), { work: ending, clock: this.#clock });
    if (!hasEnded) over.abort(new Error("the grace period is over"));
    return hasEnded;
  }
}
