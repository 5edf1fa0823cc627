/** The callers that wait for an item of a queue, served in order of arrival. */
import type { QueueItem } from "./queue-item.ts";

export class Waiters {
  readonly #waiting: ((item: QueueItem | undefined) => void)[] = [];

  /** Removes and returns the longest waiting caller. */
  next(): ((item: QueueItem | undefined) => void) | undefined {
    return this.#waiting.length === 0 ? undefined : this.#waiting.shift();
  }

  /** Waits for an item. @returns `undefined` when the queue has ended. @throws the signal's reason. */
  async wait(signal: AbortSignal | undefined): Promise<QueueItem | undefined> {
    const { promise, resolve, reject } = Promise.withResolvers<QueueItem | undefined>();
    this.#waiting.push(resolve);
    const onAbort = (): void => {
      const place = this.#waiting.indexOf(resolve);
      if (place >= 0) this.#waiting.splice(place, 1); // otherwise it has just been served
      reject(signal?.reason);
    };
    signal?.addEventListener("abort", onAbort, { once: true });
    try {
      return await promise;
    } finally {
      signal?.removeEventListener("abort", onAbort);
    }
  }

  /** Ends all waits: no more items will come. */
  releaseAll(): void {
    for (const waiter of this.#waiting.splice(0)) waiter(undefined);
  }
}
