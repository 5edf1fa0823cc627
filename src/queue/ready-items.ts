/**
 * The keys that can be taken, and their number: higher priorities first, within a priority in the order in which they
 * became ready.
 */
import { Heap, type HeapElement } from "./heap.ts";

export interface ReadyItem extends FifoItem {
  priority: number;
}

/** One of this many takes serves the item that has waited longest below the highest priority, so that none starves. */
const OLDEST_EVERY = 20;
/** A bound on empty classes, because an author may give each key a priority of its own. */
const MAX_CLASSES = 32;

class PriorityClass<T extends ReadyItem> {
  readonly priority: number;
  readonly items = new FifoQueue<T>();

  constructor(priority: number) {
    this.priority = priority;
  }
}

export class ReadyItems<T extends ReadyItem> {
  /** Highest priority first; an empty class stays until there are many. */
  #classes: PriorityClass<T>[] = [];
  #takes = 0;

  push(item: T): void {
    this.#class(item.priority).items.push(item);
  }

  remove(item: T): void {
    this.#class(item.priority).items.remove(item);
  }

  take(): T | undefined {
    let first: PriorityClass<T> | undefined;
    let isOnly = true;
    for (const candidate of this.#classes) {
      if (candidate.items.size === 0) continue;
      if (first === undefined) first = candidate;
      else {
        isOnly = false;
        break;
      }
    }
    if (isOnly) {
      this.#takes = 0;
      return first?.items.pop();
    }
    this.#takes = (this.#takes + 1) % OLDEST_EVERY;
    return (this.#takes === 0 ? this.#oldestBelow(first!) : first!).items.pop();
  }

  clear(): void {
    this.#classes.length = 0;
  }

  #oldestBelow(highest: PriorityClass<T>): PriorityClass<T> {
    let oldest = highest;
    let least = Infinity;
    for (const candidate of this.#classes) {
      const order = candidate === highest ? undefined : candidate.items.peek()?.order;
      if (order !== undefined && order < least) {
        oldest = candidate;
        least = order;
      }
    }
    return oldest;
  }

  #class(priority: number): PriorityClass<T> {
    const classes = this.#classes;
    let at = 0;
    while (at < classes.length && classes[at]!.priority > priority) at++;
    const existing = classes[at];
    if (existing?.priority === priority) return existing;
    const newClass = new PriorityClass<T>(priority);
    classes.splice(at, 0, newClass);
    if (classes.length > MAX_CLASSES) {
      this.#classes = classes.filter((one) => one === newClass || one.items.size > 0);
    }
    return newClass;
  }
}

interface Depth {
  readonly priority: number;
  keys: number;
}

/** A bound on unused priorities, because an author may give each key a priority of its own. */
const MAX_PRIORITIES = 32;

export class DepthByPriority {
  #depths: Depth[] = [];
  #last: Depth = { priority: NaN, keys: 0 };
  /** The count over all priorities. */
  total = 0;

  count(priority: number, change: number): void {
    this.total += change;
    if (this.#last.priority !== priority) this.#last = this.#of(priority);
    this.#last.keys += change;
  }

  /** The counts by priority. While there are few priorities, a used one stays, at 0. */
  byPriority(): ReadonlyMap<number, number> {
    return new Map(this.#depths.map(({ priority, keys }) => [priority, keys]));
  }

  clear(): void {
    for (const depth of this.#depths) depth.keys = 0;
    this.total = 0;
  }

  #of(priority: number): Depth {
    let depth = this.#depths.find((one) => one.priority === priority);
    if (depth === undefined) {
      if (this.#depths.length >= MAX_PRIORITIES) this.#depths = this.#depths.filter(({ keys }) => keys > 0);
      this.#depths.push((depth = { priority, keys: 0 }));
    }
    return depth;
  }
}

interface FifoItem extends HeapElement {
  /** Items leave in ascending order. */
  order: number;
}

/** The array is compacted when this many places at its front are empty. */
const SPARE = 1_024;

/** A queue for items that nearly all arrive in order: an array for these, and a heap for the others. */
class FifoQueue<T extends FifoItem> {
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
