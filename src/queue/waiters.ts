/** Those who wait for an item of a queue, first come, first served. */
import type { QueueItem } from "./queue-item.ts";

export class Takers {
  readonly #waiting: ((item: QueueItem | undefined) => void)[] = [];

  /** Whoever has waited longest, and waits no more. */
  next(): ((item: QueueItem | undefined) => void) | undefined {
    return this.#waiting.length === 0 ? undefined : this.#waiting.shift();
  }

  /** @returns `undefined` when the queue is over. @throws the signal's reason. */
  async wait(signal: AbortSignal | undefined): Promise<QueueItem | undefined> {
    const { promise, resolve, reject } = Promise.withResolvers<QueueItem | undefined>();
    this.#waiting.push(resolve);
    const onAbort = (): void => {
      const place = this.#waiting.indexOf(resolve);
      if (place >= 0) this.#waiting.splice(place, 1); // else it has just been served
      reject(signal?.reason);
    };
    signal?.addEventListener("abort", onAbort, { once: true });
    try {
      return await promise;
    } finally {
      signal?.removeEventListener("abort", onAbort);
    }
  }

  /** Nothing will come any more. */
  release(): void {
    for (const taker of this.#waiting.splice(0)) taker(undefined);
  }
}
