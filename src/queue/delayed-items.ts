/** Delayed items, with one timer for the first of them. */
import type { Clock } from "../platform/clock.ts";
import { Heap, type HeapElement } from "./heap.ts";

export interface DelayedItem extends HeapElement {
  /** Milliseconds since the epoch. */
  at: number;
  /** Breaks ties. */
  order: number;
}

export class DelayedItems<T extends DelayedItem> {
  readonly #heap = new Heap<T>((a, b) => a.at < b.at || (a.at === b.at && a.order < b.order));
  readonly #clock: Clock;
  readonly #onDue: () => void;
  #timer: { readonly at: number; readonly timer: Disposable } | undefined;

  /** @param onDue called when the first item is due. */
  constructor(clock: Clock, onDue: () => void) {
    this.#clock = clock;
    this.#onDue = onDue;
  }

  get size(): number {
    return this.#heap.size;
  }

  /** In no particular order. */
  values(): readonly T[] {
    return this.#heap.values();
  }

  add(item: T): void {
    this.#heap.push(item);
    this.#arm();
  }

  remove(item: T): void {
    this.#heap.remove(item);
  }

  /** The first item that is due. */
  due(now: number): T | undefined {
    const first = this.#heap.peek();
    return first !== undefined && first.at <= now ? first : undefined;
  }

  clear(): void {
    this.#heap.clear();
    this.#disarm();
  }

  #arm(): void {
    const first = this.#heap.peek();
    if (first === undefined || (this.#timer !== undefined && this.#timer.at <= first.at)) return;
    this.#disarm();
    const { at } = first;
    const timer = this.#clock.setTimeout(
      () => {
        this.#timer = undefined;
        this.#onDue();
        this.#arm();
      },
      Math.max(0, at - this.#clock.now()),
    );
    this.#timer = { at, timer };
  }

  #disarm(): void {
    this.#timer?.timer[Symbol.dispose]();
    this.#timer = undefined;
  }
}
