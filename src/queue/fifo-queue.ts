/** Waiting items in the order in which they came; one that comes late is let in at its place. */
import { Heap, type HeapElement } from "./heap.ts";

export interface LineItem extends HeapElement {
  /** Who has less leaves first. */
  order: number;
}

/** So many empty places at the front are given back. */
const SPARE = 1_024;

/**
 * Nearly everything comes in order, so that a line is enough; only what does not goes into a heap beside it.
 */
export class Line<T extends LineItem> {
  #items: (T | undefined)[] = [];
  /** The place of the first item of the array, counted from the beginning of time. */
  #base = 0;
  /** Everything before it in the array has left. */
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
      this.#late.remove(item); // it came after others with a higher order: its place is one in the heap of those
      return;
    }
    this.#items[place] = undefined;
    item.place = -1;
    if (--this.#left === 0) this.#empty(); // a line from which nothing is ever popped would grow for ever
  }

  /** What `pop` would give. */
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

  /** Nothing is left but places. */
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
