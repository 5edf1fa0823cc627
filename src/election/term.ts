/** One term of leadership, measured by clocks that nobody can set back. */
import type { Clock } from "../platform/clock.ts";

/** The two clocks that a term is measured by. */
export interface TermClocks {
  /** A clock that runs evenly and is never set; it may stop while the machine sleeps. */
  readonly steady: Pick<Clock, "now">;
  /** The time of day, which also counts the time that the machine slept. */
  readonly wall: Pick<Clock, "now">;
}

/** A moment by both clocks. */
export interface Moment {
  readonly steady: number;
  readonly wall: number;
}

export function momentOf({ steady, wall }: TermClocks): Moment {
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
  #renewed: Moment;
  #ended: string | undefined;

  constructor(options: {
    readonly clocks: TermClocks;
    /** The duration in milliseconds. */
    readonly duration: number;
    /** When the request that acquired the Lease began. */
    readonly since: Moment;
    /** Called once, synchronously, before the caller that found the term over continues. */
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

  /** Whether its end has been noticed; compares no clocks. */
  get hasEnded(): boolean {
    return this.#ended !== undefined;
  }

  /** Milliseconds until the term ends without a renewal; 0 or less when it is over. */
  get remaining(): number {
    const { steady, wall } = this.#clocks;
    const passed = Math.max(steady.now() - this.#renewed.steady, wall.now() - this.#renewed.wall);
    return this.#duration - passed;
  }

  /**
   * Records a successful renewal that began at `since`.
   *
   * @returns false when the term was over already; then it stays over.
   */
  renew(since: Moment): boolean {
    if (this.ended !== undefined) return false;
    this.#renewed = since;
    return true;
  }

  end(reason: string): void {
    if (this.#ended !== undefined) return;
    this.#ended = reason;
    this.#onEnd(reason);
  }
}
