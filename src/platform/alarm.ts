/** A pause that ends early when there is something to do. */
import { abortable } from "./abortable.ts";
import type { Clock } from "./clock.ts";

export class Alarm {
  readonly #clock: Clock;
  #waiting: PromiseWithResolvers<void> | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Wakes whoever waits. */
  ring(): void {
    this.#waiting?.resolve();
    this.#waiting = undefined;
  }

  /** Waits for so many milliseconds, or until the alarm rings. @throws the signal's reason. */
  async wait(ms: number, signal: AbortSignal): Promise<void> {
    const waiting = (this.#waiting ??= Promise.withResolvers());
    using _timer = ms === Infinity ? undefined : this.#clock.setTimeout(() => this.ring(), Math.max(0, ms));
    await abortable(waiting.promise, signal);
  }
}
