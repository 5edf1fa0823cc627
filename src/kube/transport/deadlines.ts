/**
 * Deadlines of many requests with few timers: among requests of equal timeout, the first to begin is the first to
 * expire.
 */
import type { Clock } from "../../platform/clock.ts";

export interface Expiring {
  /** Called when the time is over; the item has been removed then. */
  expire(): void;
}

interface Queue {
  /** The deadlines, in order. */
  readonly ends: Map<Expiring, number>;
  timer: Disposable | undefined;
}

export class Deadlines {
  readonly #clock: Clock;
  /** The queues by timeout; nearly all requests have the same. */
  readonly #queues = new Map<number, Queue>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Adds an item that expires after `ms` milliseconds. */
  add(item: Expiring, ms: number): void {
    let queue = this.#queues.get(ms);
    if (queue === undefined) {
      queue = { ends: new Map(), timer: undefined };
      this.#queues.set(ms, queue);
    }
    queue.ends.set(item, this.#clock.now() + ms);
    // A running timer finds the next deadline when it fires; one timer for each request would be expensive.
    if (queue.timer === undefined) this.#arm(queue, ms, ms);
  }

  /** Removes an item. @param ms the timeout with which it was added. */
  delete(item: Expiring, ms: number): void {
    this.#queues.get(ms)?.ends.delete(item);
  }

  close(): void {
    for (const { ends, timer } of this.#queues.values()) {
      timer?.[Symbol.dispose]();
      ends.clear();
    }
    this.#queues.clear();
  }

  #arm(queue: Queue, ms: number, delay: number): void {
    queue.timer = this.#clock.setTimeout(() => this.#fire(queue, ms), delay);
  }

  #fire(queue: Queue, ms: number): void {
    const now = this.#clock.now();
    // Items that are added while this loop runs are seen here too, and need no timer.
    for (const [item, end] of queue.ends) {
      if (end > now) return this.#arm(queue, ms, end - now);
      queue.ends.delete(item);
      item.expire();
    }
    queue.timer = undefined;
    // A timeout that is no longer used is forgotten.
    if (this.#queues.get(ms) === queue) this.#queues.delete(ms);
  }
}
