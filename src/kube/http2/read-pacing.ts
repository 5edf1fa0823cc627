/**
 * Read pacing: while responses are slow, bytes that arrive within a few milliseconds are read together.
 *
 * Waking up for a message costs more than processing it: a system call, and code and data that have left the CPU
 * caches. So a busy connection pauses after a read, but never longer than a small part of a round trip: a server that
 * answers in 3 ms is read at once, one that needs 40 ms is read every 8 ms. All connections resume at the same moment,
 * so that a response and its event are processed in one turn.
 */
import type { Clock } from "../../platform/clock.ts";

/** The divisor of a round trip that gives the longest pause. */
const PART = 5;
const LONGEST_MS = 8;
/** The shortest pause in milliseconds; a shorter one would cost more for its timer than it saves. */
const SHORTEST_MS = 2;
/** The longest round trip that counts, so that one request that hangs does not dominate the mean. */
const LONGEST_TRIP_MS = PART * LONGEST_MS;
/** The number of round trips that the mean weighs, and the milliseconds for which it is valid. */
const REMEMBERED = 8;
const REMEMBERED_MS = 1_000;

/** A connection whose reads can be paused. */
export interface Readable {
  pause(): void;
  resume(): void;
}

export class ReadPacing {
  readonly #clock: Clock;
  readonly #resting = new Set<Readable>();
  readonly #goOn = (): void => {
    const resting = [...this.#resting];
    this.#resting.clear();
    for (const readable of resting) readable.resume();
  };
  #mean = 0;
  #measured = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  now(): number {
    return this.#clock.now();
  }

  /** Takes note of the round trip of a request that began at `start`. */
  answered(start: number): void {
    const now = this.#clock.now();
    const trip = Math.min(now - start, LONGEST_TRIP_MS);
    this.#mean = now - this.#measured > REMEMBERED_MS ? 0 : this.#mean + (trip - this.#mean) / REMEMBERED;
    this.#measured = now;
  }

  /** Pauses a connection that is read now, if it was also read shortly before. @returns the current time. */
  read(readable: Readable, before: number): number {
    const now = this.#clock.now();
    const rest = Math.min(this.#mean / PART, LONGEST_MS);
    if (rest < SHORTEST_MS || now - before > 2 * rest || now - this.#measured > REMEMBERED_MS) return now;
    if (this.#resting.size === 0) this.#clock.setTimeout(this.#goOn, rest);
    this.#resting.add(readable);
    readable.pause();
    return now;
  }

  /** Forgets a connection that is closed. */
  forget(readable: Readable): void {
    this.#resting.delete(readable);
  }
}
