/** One term of leadership, measured by clocks that nobody can set back. */
import type { Clock } from "../platform/clock.ts";

/** The two clocks that a term is measured by. */
export interface TermClocks {
  /** A clock that runs evenly and is never set; it may stop while the machine sleeps. */
  readonly steady: Clock;
  /** The time of day, which also counts the time that the machine slept. */
  readonly wall: Pick<Clock, "now">;
}

export interface Moment {
  readonly steady: number;
  readonly wall: number;
}

export function momentOf({ steady, wall }: { readonly [Name in keyof TermClocks]: Pick<Clock, "now"> }): Moment {
  return { steady: steady.now(), wall: wall.now() };
}

/**
 * Leadership from one acquisition to its end; a term that has ended never begins again.
 *
 * A term lasts for `duration` after the beginning of the last successful renewal. The beginning counts, because the
 * server may have written the renewal at any moment after it. The clock on which more time has passed decides: a
 * suspended machine stops the steady clock, and setting the time of day back stops the other one.
 */
export class Term {
  readonly #clocks: TermClocks;
  readonly #duration: number;
  readonly #onEnd: (reason: string) => void;
  readonly #over = new AbortController();
  #renewed: Moment;
  #ended: string | undefined;
  /** The timer of {@link guard}. */
  #timer: Disposable | undefined;

  constructor(options: {
    readonly clocks: TermClocks;
    /** The duration in milliseconds. */
    readonly duration: number;
    /** The moment at which the request that acquired the Lease began. */
    readonly since: Moment;
    /** Called once, synchronously, before whoever noticed the end continues. */
    readonly onEnd: (reason: string) => void;
  }) {
    this.#clocks = options.clocks;
    this.#duration = options.duration;
    this.#renewed = options.since;
    this.#onEnd = options.onEnd;
  }

  /** Why the term is over; `undefined` while it lasts. It compares the clocks each time and waits for no timer. */
  get ended(): string | undefined {
    if (this.#ended === undefined && this.remaining <= 0) {
      this.end(`the Lease was not renewed within ${this.#duration / 1_000}s`);
    }
    return this.#ended;
  }

  /** Fires when the end of the term is noticed. */
  get signal(): AbortSignal {
    return this.#over.signal;
  }

  /** For how many milliseconds the Lease has been expired without anybody noticing; compares only the clocks. */
  overdue(leaseDuration: number): number {
    return this.#ended === undefined ? Math.max(0, this.#duration - this.remaining - leaseDuration) : 0;
  }

  /** Milliseconds until the term ends without a renewal; 0 or less when it is over. */
  get remaining(): number {
    const { steady, wall } = this.#clocks;
    const passed = Math.max(steady.now() - this.#renewed.steady, wall.now() - this.#renewed.wall);
    return this.#duration - passed;
  }

  /** Records a successful renewal that began at `since`. @returns false when the term was over already. */
  renew(since: Moment): boolean {
    if (this.ended !== undefined) return false;
    this.#renewed = since;
    if (this.#timer !== undefined) this.#arm();
    return true;
  }

  end(reason: string): void {
    if (this.#ended !== undefined) return;
    this.#ended = reason;
    this.#over.abort(new Error(reason));
    this.#onEnd(reason);
  }

  /** Ends the term on time even if nobody compares the clocks, such as during a renewal, until disposed of. */
  guard(): Disposable {
    this.#arm();
    return { [Symbol.dispose]: () => this.#timer?.[Symbol.dispose]() };
  }

  #arm(): void {
    this.#timer?.[Symbol.dispose]();
    if (this.ended === undefined) {
      this.#timer = this.#clocks.steady.setTimeout(() => this.#arm(), Math.max(1, this.remaining));
    }
  }
}
