/** Keeps the newest state of each object, in order of arrival, until a consumer takes it. */
import { WorkSignal } from "./work-signal.ts";
import type { AnyObject } from "../resource/handle.ts";
import { keyString } from "../resource/meta.ts";

export interface FifoOptions<T> {
  /** @default `namespace/name` of an object's metadata */
  readonly keyOf?: ((item: T) => string) | undefined;
}

/**
 * A queue of items by key that holds only the newest of each.
 *
 * **Guarantees.** Keys leave in order of arrival; an item that is added again keeps its place. An item that is deleted
 * before it is taken is never taken. An item whose processing fails returns to the queue, unless a newer one is there.
 *
 * @see https://pkg.go.dev/k8s.io/client-go/tools/cache#FIFO
 */
export class Fifo<T = AnyObject> {
  readonly #keyOf: (item: T) => string;
  readonly #items = new Map<string, T>();
  readonly #signal = new WorkSignal();
  /** Keys of the first `replace` that have not been taken; `undefined` before the first `replace` or change. */
  #initial: Set<string> | undefined;

  constructor(options: FifoOptions<T> = {}) {
    this.#keyOf = options.keyOf ?? ((item) => keyString((item as AnyObject).metadata));
  }

  get size(): number {
    return this.#items.size;
  }

  /**
   * Whether everything of the first `replace` has been taken or deleted. When a change comes before any `replace` it is
   * true at once.
   */
  get hasSynced(): boolean {
    return this.#initial?.size === 0;
  }

  get(key: string): T | undefined {
    return this.#items.get(key);
  }

  keys(): IterableIterator<string> {
    return this.#items.keys();
  }

  values(): IterableIterator<T> {
    return this.#items.values();
  }

  add(item: T): void {
    this.#initial ??= new Set();
    this.#items.set(this.#keyOf(item), item);
    this.#signal.notify();
  }

  update(item: T): void {
    this.add(item);
  }

  delete(item: T): void {
    const key = this.#keyOf(item);
    this.#items.delete(key);
    this.#initial ??= new Set();
    this.#initial.delete(key);
  }

  /** Replaces the content by these items, in this order. */
  replace(items: readonly T[]): void {
    this.#items.clear();
    for (const item of items) this.#items.set(this.#keyOf(item), item);
    this.#initial ??= new Set(this.#items.keys());
    for (const key of this.#initial) if (!this.#items.has(key)) this.#initial.delete(key);
    this.#signal.notify();
  }

  /**
   * Waits for an item, takes it and processes it.
   *
   * @param process when it fails, the item returns to the queue unless a newer one is there.
   * @returns the result of `process`.
   * @throws the error of `process`, an Error when the queue is closed, or the signal's reason.
   */
  async pop<R>(process: (item: T) => R | Promise<R>, signal?: AbortSignal): Promise<R> {
    signal?.throwIfAborted();
    this.#signal.assertOpen();
    while (this.#items.size === 0) await this.#signal.wait(signal);
    const [key, item] = this.#items.entries().next().value!;
    this.#items.delete(key);
    try {
      const result = await process(item);
      this.#initial?.delete(key);
      return result;
    } catch (error) {
      if (!this.#items.has(key)) this.#items.set(key, item);
      this.#signal.notify();
      throw error;
    }
  }

  /** Closes the queue: pending and later calls of `pop` fail. */
  close(): void {
    this.#signal.close();
  }
}
