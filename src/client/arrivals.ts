/** Queues incoming items for one reader, and pauses the server while too many of them are unread. */
import type { StreamFlow } from "../kube/transport/kube-request.ts";

/** Read it by `while (await arrivals.more()) yield* arrivals.take()`. */
export class Arrivals<T> {
  readonly #most: number;
  readonly #waiting: T[] = [];
  #wake: PromiseWithResolvers<void> = Promise.withResolvers();
  #end: { readonly error: unknown } | undefined;
  #flow: StreamFlow | undefined;
  /** The size of the items that the reader received last: they count as read when it asks for more. */
  #handedOver = 0;
  /** The size of unread items, including those on their way to the reader and those that have arrived only in part. */
  unread = 0;

  /** @param most the unread size from which on the server waits. @default it never waits */
  constructor(most: number = Infinity) {
    this.#most = most;
  }

  /** Takes over the flow of the stream that is open now. */
  follow(flow: StreamFlow): void {
    this.#flow = flow;
    this.count(0);
  }

  /** Counts a part of an item that has arrived. */
  count(size: number): void {
    this.unread += size;
    if (this.unread > this.#most) this.#flow?.pause();
    this.#wake.resolve();
  }

  push(item: T): void {
    this.#waiting.push(item);
    this.#wake.resolve();
  }

  /**
   * Ends the stream after the items that wait.
   *
   * @param error the reason why it has failed.
   * @default it has ended in order
   */
  end(error?: unknown): void {
    this.#end ??= { error };
    this.#wake.resolve();
  }

  /** Waits for items. @returns false at the end. @throws the error of the end. */
  async more(): Promise<boolean> {
    for (;;) {
      this.unread -= this.#handedOver;
      this.#handedOver = 0;
      if (this.#waiting.length > 0) return true;
      this.unread = 0; // an item of which only a part has come must not make the server wait
      this.#flow?.resume();
      if (this.#end?.error !== undefined) throw this.#end.error;
      if (this.#end !== undefined) return false;
      await this.#wake.promise;
      this.#wake = Promise.withResolvers();
    }
  }

  /** Takes the items that wait. */
  take(): T[] {
    this.#handedOver = this.unread;
    return this.#waiting.splice(0);
  }
}
