/**
 * When answers are slow, what arrives within a few milliseconds is read together.
 *
 * Waking up for a message costs more than the message: a system call, and code and data that others have pushed out of
 * the caches. So a connection that has just been read rests a little when it is busy, but never longer than a small part
 * of what a request takes anyway: a server that answers in 3 ms is not kept waiting, one that needs 40 ms is read every
 * 8 ms. All connections go on at the same moment, so that an answer and its event cost one turn.
 */
import type { Clock } from "../../platform/clock.ts";

/** A rest is at most this part of a round trip. */
const PART = 5;
const LONGEST_MS = 8;
/** Below that the timer costs more than it saves. */
const SHORTEST_MS = 2;
/** Of a round trip: more makes no difference, and one request that hangs is to count little. */
const LONGEST_TRIP_MS = PART * LONGEST_MS;
/** How many round trips the mean remembers, and for how long. */
const REMEMBERED = 8;
const REMEMBERED_MS = 1_000;

/** What can be read later. */
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

  /** A request that began at `start` was answered. */
  answered(start: number): void {
    const now = this.#clock.now();
    const trip = Math.min(now - start, LONGEST_TRIP_MS);
    this.#mean = now - this.#measured > REMEMBERED_MS ? 0 : this.#mean + (trip - this.#mean) / REMEMBERED;
    this.#measured = now;
  }

  /** Lets a connection rest that was read now, when it was read shortly before, too. @returns now. */
  read(readable: Readable, before: number): number {
    const now = this.#clock.now();
    const rest = Math.min(this.#mean / PART, LONGEST_MS);
    if (rest < SHORTEST_MS || now - before > 2 * rest || now - this.#measured > REMEMBERED_MS) return now;
    if (this.#resting.size === 0) this.#clock.setTimeout(this.#goOn, rest);
    this.#resting.add(readable);
    readable.pause();
    return now;
  }

  /** It is closed. */
  forget(readable: Readable): void {
    this.#resting.delete(readable);
  }
}
