/** Repeats a pass that brings a part of the API server to its wanted state. */
import { Alarm } from "../platform/alarm.ts";
import type { Clock } from "../platform/clock.ts";

export interface PassesOptions {
  readonly clock: Clock;
  /** Does all present work. @returns the milliseconds until there may be more. */
  readonly pass: (signal: AbortSignal) => Promise<number>;
  /** Called after each failure; `isRepeated` when the previous one had the same reason. */
  readonly onFailure: (reason: string, isRepeated: boolean) => void;
  /** Awaited before each pass but the first. @default nothing */
  readonly rest?: ((signal: AbortSignal) => Promise<void>) | undefined;
}

/** Milliseconds before a failed pass is repeated: at first, and at most. */
const FIRST_RETRY = 500;
const LAST_RETRY = 15_000;

/** **Guarantee.** Passes do not overlap, and one begins after each {@link look}. */
export class Passes {
  readonly #options: PassesOptions;
  readonly #alarm: Alarm;
  /** Whether something may have changed since the last pass began. */
  #isStale = false;
  #failure: string | undefined;

  constructor(options: PassesOptions) {
    this.#options = options;
    this.#alarm = new Alarm(options.clock);
  }

  /** Why the last pass failed; `undefined` when it succeeded. */
  get failure(): string | undefined {
    return this.#failure;
  }

  /** Called when something may have changed. */
  look(): void {
    this.#isStale = true;
    this.#alarm.ring();
  }

  /** Runs passes until the signal fires. */
  async run(signal: AbortSignal): Promise<void> {
    const { pass, onFailure, rest } = this.#options;
    let retry = FIRST_RETRY;
    while (!signal.aborted) {
      this.#isStale = false;
      let pause: number;
      try {
        pause = await pass(signal);
        this.#failure = undefined;
        retry = FIRST_RETRY;
      } catch (error) {
        if (signal.aborted) return;
        const reason = error instanceof Error ? error.message : String(error);
        onFailure(reason, reason === this.#failure);
        this.#failure = reason;
        pause = retry;
        retry = Math.min(2 * retry, LAST_RETRY);
      }
      if (!this.#isStale) await this.#alarm.wait(pause, signal).catch(() => {}); // the signal ends the loop
      await rest?.(signal);
    }
  }
}
