/** The newest state of each object, in the order in which they came, until somebody takes it. */
import { Arrivals } from "./arrivals.ts";
import type { AnyObject } from "../resource/handle.ts";
import { keyString } from "../resource/meta.ts";

export interface FifoOptions<T> {
  /** @default `namespace/name` of an object's metadata */
  readonly keyOf?: ((item: T) => string) | undefined;
}

/**
 * A queue of items by key that holds only the newest of each.
 *
 * **Guarantees.** Keys leave in the order in which they came; an item that is added again keeps its place. An item that
 * was deleted before it was taken is never taken. What a consumer fails on comes back, unless there is newer.
 *
 * @see https://pkg.go.dev/k8s.io/client-go/tools/cache#FIFO
 */
export class Fifo<T = AnyObject> {
  readonly #keyOf: (item: T) => string;
  readonly #items = new Map<string, T>();
  readonly #arrivals = new Arrivals();
  /** Items of the first `replace` that nobody has taken; `undefined` before it, and before any change. */
  #initial: Set<string> | undefined;

  constructor(options: FifoOptions<T> = {}) {
    this.#keyOf = options.keyOf ?? ((item) => keyString((item as AnyObject).metadata));
  }

  get size(): number {
    return this.#items.size;
  }

  /**
   * What came with the first `replace` has been taken; items that were deleted since count as taken. True at once where
   * a change comes before any `replace`.
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
    this.#arrivals.tell();
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

  /** These items and no others, in this order. */
  replace(items: readonly T[]): void {
    this.#items.clear();
    for (const item of items) this.#items.set(this.#keyOf(item), item);
    this.#initial ??= new Set(this.#items.keys());
    for (const key of this.#initial) if (!this.#items.has(key)) this.#initial.delete(key);
    this.#arrivals.tell();
  }

  /**
   * Waits for an item, takes it and has it processed.
   *
   * @param process when it fails, the item comes back, unless there is a newer one.
   * @returns what it returned.
   * @throws what it threw, when the queue is closed, the signal's reason.
   */
  async pop<R>(process: (item: T) => R | Promise<R>, signal?: AbortSignal): Promise<R> {
    signal?.throwIfAborted();
    this.#arrivals.assertOpen();
    while (this.#items.size === 0) await this.#arrivals.next(signal);
    const [key, item] = this.#items.entries().next().value!;
    this.#items.delete(key);
    try {
      const result = await process(item);
      this.#initial?.delete(key);
      return result;
    } catch (error) {
      if (!this.#items.has(key)) this.#items.set(key, item);
      this.#arrivals.tell();
      throw error;
    }
  }

  /** Whoever waits in `pop` is told, and nobody takes anything any more. */
  close(): void {
    this.#arrivals.close();
  }
}
