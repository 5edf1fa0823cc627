/** Lets consumers of a queue wait until something is in it. */
import { abortable } from "../platform/abortable.ts";

export class Arrivals {
  #waiting: PromiseWithResolvers<void> | undefined;
  #closed = false;

  get closed(): boolean {
    return this.#closed;
  }

  /** Something has come. */
  tell(): void {
    if (this.#waiting === undefined) return;
    this.#waiting.resolve();
    this.#waiting = undefined;
  }

  /** @throws when it is closed, the signal's reason. */
  async next(signal: AbortSignal | undefined): Promise<void> {
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
    this.tell();
  }
}
