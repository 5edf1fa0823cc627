/** A grace period: the time that an end may take. */
import { within } from "../controller/within.ts";
import { type Clock, monotonic } from "../platform/clock.ts";

/** Milliseconds that work gets even if earlier work has used up the period. */
const LAST_MOMENT = 100;

/** The period begins when it is created; consecutive steps share it. */
export class GracePeriod {
  /** The milliseconds from its beginning to its end. */
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

  /** The whole milliseconds that are left. */
  get left(): number {
    return Math.max(0, Math.ceil(this.#endsAt - this.#clock.now()));
  }

  /** Waits for work, at least a moment; at the end of the period its signal fires. @returns whether it ended. */
  async within(work: (signal: AbortSignal) => Promise<unknown> | undefined): Promise<boolean> {
    const over = new AbortController();
    const ending = Promise.resolve(work(over.signal)).then(() => {});
    const hasEnded = await within(Math.max(this.left, this.#atLeast), { work: ending, clock: this.#clock });
    if (!hasEnded) over.abort(new Error("the grace period is over"));
    return hasEnded;
  }
}
