/** Deadlines of many requests with few timers: of those that may take equally long, the first to begin is the first to end. */
import type { Clock } from "../../platform/clock.ts";

export interface Expiring {
  /** Its time is over. It is not listed any more. */
  expire(): void;
}

interface Queue {
  /** In the order of their ends. */
  readonly ends: Map<Expiring, number>;
  timer: Disposable | undefined;
}

export class Deadlines {
  readonly #clock: Clock;
  /** By how long they may take: nearly all take the same. */
  readonly #queues = new Map<number, Queue>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** From now on for `ms` milliseconds. */
  add(item: Expiring, ms: number): void {
    let queue = this.#queues.get(ms);
    if (queue === undefined) {
      queue = { ends: new Map(), timer: undefined };
      this.#queues.set(ms, queue);
    }
    queue.ends.set(item, this.#clock.now() + ms);
    // A timer that is set finds the next one when it fires: setting one for each request would cost more than the rest.
    if (queue.timer === undefined) this.#arm(queue, ms, ms);
  }

  /** @param ms as it was added. */
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
    // What is added meanwhile is seen here too, and needs no timer of its own.
    for (const [item, end] of queue.ends) {
      if (end > now) return this.#arm(queue, ms, end - now);
      queue.ends.delete(item);
      item.expire();
    }
    queue.timer = undefined;
    // A length that nobody uses any more is forgotten.
    if (this.#queues.get(ms) === queue) this.#queues.delete(ms);
  }
}
