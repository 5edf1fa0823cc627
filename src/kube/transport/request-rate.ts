/** Limits the requests per second, for clusters whose API server has no priority and fairness of its own. */
import { abortable } from "../../platform/abortable.ts";
import type { Clock } from "../../platform/clock.ts";

export interface RateLimit {
  /** Requests a second, in the long run. */
  readonly qps: number;
  /** Requests at once, after a pause. @default twice `qps` */
  readonly burst?: number | undefined;
}

/** A bucket of tokens, and a queue of callers that wait for one. */
export class RequestRate implements Disposable {
  readonly #clock: Clock;
  readonly #gap: number;
  readonly #burst: number;
  readonly #waiting: (() => void)[] = [];
  /** The time at which the bucket was, or will be, empty; tokens are the time since then. */
  #empty: number;
  #timer: Disposable | undefined;

  constructor({ qps, burst = 2 * qps }: RateLimit, clock: Clock) {
    this.#clock = clock;
    this.#gap = 1_000 / qps;
    this.#burst = burst;
    this.#empty = clock.now() - burst * this.#gap;
  }

  /** Waits for a turn; `undefined` when no wait is needed. @throws the signal's reason. */
  take(signal: AbortSignal | undefined): Promise<void> | undefined {
    if (this.#waiting.length === 0 && this.#draw()) return undefined;
    return this.#turn(signal);
  }

  [Symbol.dispose](): void {
    this.#timer?.[Symbol.dispose]();
    this.#timer = undefined;
    for (const go of this.#waiting.splice(0)) go();
  }

  async #turn(signal: AbortSignal | undefined): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#waiting.push(resolve);
    this.#arm();
    try {
      await (signal === undefined ? promise : abortable(promise, signal));
    } finally {
      const place = this.#waiting.indexOf(resolve);
      if (place >= 0) this.#waiting.splice(place, 1); // gave up: the turn is another's
    }
  }

  #draw(): boolean {
    const now = this.#clock.now();
    const full = now - this.#burst * this.#gap;
    if (this.#empty < full) this.#empty = full;
    if (this.#empty + this.#gap > now) return false;
    this.#empty += this.#gap;
    return true;
  }

  #arm(): void {
    this.#timer ??= this.#clock.setTimeout(
      () => {
        this.#timer = undefined;
        while (this.#waiting.length > 0 && this.#draw()) this.#waiting.shift()!();
        if (this.#waiting.length > 0) this.#arm();
      },
      Math.max(1, Math.ceil(this.#empty + this.#gap - this.#clock.now())),
    );
  }
}
