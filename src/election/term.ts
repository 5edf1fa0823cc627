/** One term of leadership, and how long it lasts by clocks that nobody can set back. */
import type { Clock } from "../platform/clock.ts";

/** The two clocks that a term is measured by. */
export interface TermClocks {
  /** Goes on evenly and is never set; it may stand still while the machine sleeps. */
  readonly steady: Pick<Clock, "now">;
  /** Follows the time of day, so it also counts the time that the machine slept. */
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
 * A term lasts for `duration` after the beginning of the last renewal that succeeded. The beginning counts, because the
 * server may have written the renewal at any moment after it. Whichever clock says that more time has passed is
 * believed: a suspended machine stops the steady clock, and setting the time of day back stops the other.
 */
export class Term {
  readonly #clocks: TermClocks;
  readonly #duration: number;
  readonly #onEnd: (reason: string) => void;
  #renewed: Moment;
  #ended: string | undefined;

  constructor(options: {
    readonly clocks: TermClocks;
    /** Milliseconds. */
    readonly duration: number;
    /** When the request that acquired the Lease was begun. */
    readonly since: Moment;
    /** Called once, synchronously, before the caller that found the term over goes on. */
    readonly onEnd: (reason: string) => void;
  }) {
    this.#clocks = options.clocks;
    this.#duration = options.duration;
    this.#renewed = options.since;
    this.#onEnd = options.onEnd;
  }

  /** Why the term is over; `undefined` while it lasts. Compares the clocks each time and waits for no timer. */
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

  /** Milliseconds for which the term lasts unless it is renewed; 0 or less when it is over. */
  get remaining(): number {
    const { steady, wall } = this.#clocks;
    const passed = Math.max(steady.now() - this.#renewed.steady, wall.now() - this.#renewed.wall);
    return this.#duration - passed;
  }

  /**
   * A renewal that was begun at `since` has succeeded.
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
