/** Wakes the consumers of a queue when an item arrives. */
import { abortable } from "../platform/abortable.ts";

export class WorkSignal {
  #waiting: PromiseWithResolvers<void> | undefined;
  #closed = false;

  get closed(): boolean {
    return this.#closed;
  }

  /** An item has arrived: wakes every consumer that waits. */
  notify(): void {
    if (this.#waiting === undefined) return;
    this.#waiting.resolve();
    this.#waiting = undefined;
  }

  /** Waits for the next item. @throws Error when the queue is closed, or the signal's reason. */
  async wait(signal: AbortSignal | undefined): Promise<void> {
    this.assertOpen();
    this.#waiting ??= Promise.withResolvers();
    const { promise } = this.#waiting;
    await (signal === undefined ? promise : abortable(promise, signal));
    this.assertOpen();
  }

  assertOpen(): void {
    if (this.#closed) throw new Error("The queue is closed");
  }

  close(): void {
    this.#closed = true;
    this.notify();
  }
}
