/** A FIFO queue by order number that also accepts items out of order. */
import { Heap, type HeapElement } from "./heap.ts";

export interface FifoItem extends HeapElement {
  /** Items leave in ascending order. */
  order: number;
}

/** The array is compacted when this many places at its front are empty. */
const SPARE = 1_024;

/**
 * Nearly all items arrive in order, so an array is enough; an item that arrives out of order goes into a heap beside it.
 */
export class FifoQueue<T extends FifoItem> {
  #items: (T | undefined)[] = [];
  /** The place of the array's first element, counted from the first item ever pushed. */
  #base = 0;
  /** The index before which all elements have left. */
  #head = 0;
  #last = -1;
  #left = 0;
  readonly #late = new Heap<T>((a, b) => a.order < b.order);

  get size(): number {
    return this.#left + this.#late.size;
  }

  push(item: T): void {
    if (item.order < this.#last) {
      this.#late.push(item);
      return;
    }
    this.#last = item.order;
    item.place = this.#base + this.#items.length;
    this.#items.push(item);
    this.#left++;
  }

  remove(item: T): void {
    const place = item.place - this.#base;
    if (this.#items[place] !== item) {
      this.#late.remove(item); // it arrived out of order, so its place is one in the heap
      return;
    }
    this.#items[place] = undefined;
    item.place = -1;
    if (--this.#left === 0) this.#empty(); // otherwise the array would grow forever if nothing is ever popped
  }

  /** The item that `pop` would return. */
  peek(): T | undefined {
    const first = this.#first();
    const late = this.#late.peek();
    return first === undefined || (late !== undefined && late.order < first.order) ? late : first;
  }

  pop(): T | undefined {
    const first = this.#first();
    const late = this.#late.peek();
    if (first === undefined || (late !== undefined && late.order < first.order)) return this.#late.pop();
    this.#items[this.#head++] = undefined;
    this.#left--;
    first.place = -1;
    if (this.#head >= SPARE && this.#head * 2 >= this.#items.length) this.#giveBack();
    return first;
  }

  #first(): T | undefined {
    if (this.#left === 0) {
      if (this.#items.length > 0) this.#empty();
      return undefined;
    }
    while (this.#items[this.#head] === undefined) this.#head++;
    return this.#items[this.#head];
  }

  /** Drops the array once only empty places are left. */
  #empty(): void {
    this.#base += this.#items.length;
    this.#items = [];
    this.#head = 0;
  }

  #giveBack(): void {
    this.#items = this.#items.slice(this.#head);
    this.#base += this.#head;
    this.#head = 0;
  }
}
