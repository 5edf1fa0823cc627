/**
 * Delays of keys: items that are due later, with one timer for the first of them; the debounce time; the interval
 * between runs.
 */
import type { Clock } from "../platform/clock.ts";
import { Heap, type HeapElement } from "./heap.ts";

export interface DelayedItem extends HeapElement {
  /** Milliseconds since the epoch. */
  at: number;
  /** Of items that are due at the same time, the lower order comes first. */
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

  /** All items, in no particular order. */
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

/** The multiple of the debounce time after which a key becomes ready even if changes go on. */
const MOST_DEBOUNCES = 10;

export class Debouncer {
  readonly #ms: number;
  /** Since when each key has been delayed. */
  readonly #since: Map<string, number>;

  /**
   * @param ms the milliseconds without a change after which a key is ready.
   * @param before the debouncer whose delays continue.
   */
  constructor(ms: number, before?: Debouncer) {
    this.#ms = ms;
    this.#since = before === undefined ? new Map() : before.#since;
  }

  /** Whether a key is being delayed. */
  isDelaying(key: string): boolean {
    return this.#since.has(key);
  }

  /** Delays a key that was added, perhaps again. @returns when it becomes ready. */
  postpone(key: string, now: number): number {
    const since = this.#since.get(key) ?? now;
    this.#since.set(key, since);
    return Math.min(now + this.#ms, since + MOST_DEBOUNCES * this.#ms);
  }

  /** Ends the delay of a key. */
  forget(key: string): void {
    this.#since.delete(key);
  }
}

export class MinInterval {
  readonly #ms: number;
  /** When the last run of each key began, oldest first; an entry is dropped once it delays nothing. */
  readonly #began: Map<string, number>;

  /**
   * @param ms the milliseconds between the beginnings of two runs.
   * @param before the interval whose runs count too.
   */
  constructor(ms: number, before?: MinInterval) {
    this.#ms = ms;
    this.#began = before === undefined ? new Map() : before.#began;
  }

  /** Milliseconds until the next run of a key may begin; 0 or less when it may begin now. */
  remaining(key: string, now: number): number {
    const began = this.#began.get(key);
    return began === undefined ? 0 : began + this.#ms - now;
  }

  /** A run of a key begins. */
  begin(key: string, now: number): void {
    for (const [old, at] of this.#began) {
      if (at + this.#ms > now) break;
      this.#began.delete(old);
    }
    this.#began.delete(key);
    this.#began.set(key, now);
  }
}
