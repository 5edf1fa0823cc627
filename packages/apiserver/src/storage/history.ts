/** The recent changes of one collection, bounded by number and age. */
import type { HistoryLimits } from "./history-limits.ts";
import type { Stored, StoreEvent } from "./stored.ts";

/** Events ordered by version. */
export class History {
  readonly #limits: HistoryLimits;
  #events: StoreEvent[] = [];
  /** The index of the first valid event; the array is cut when half of it is invalid. */
  #start = 0;
  /** The last version whose changes have been forgotten. */
  #compacted: number;

  constructor(limits: HistoryLimits, compacted: number) {
    this.#limits = limits;
    this.#compacted = compacted;
  }

  /** The earliest version at which a watch can begin. */
  get compacted(): number {
    return this.#compacted;
  }

  add(event: StoreEvent): void {
    this.#events.push(event);
    const { count, age } = this.#limits;
    for (;;) {
      const oldest = this.#events[this.#start];
      if (oldest === undefined || oldest === event) break;
      if (this.#events.length - this.#start <= count && event.at - oldest.at <= age) break;
      this.#compacted = oldest.version;
      this.#start += 1;
    }
    this.#cut();
  }

  /** Reverts the last change. */
  revert(event: StoreEvent): void {
    if (this.#events.at(-1) === event) this.#events.pop();
  }

  /** Forgets the changes up to and including this version. */
  compact(version: number): void {
    if (version <= this.#compacted) return;
    this.#compacted = version;
    this.#start = this.#indexAfter(version);
    this.#cut();
  }

  /** Returns the changes after a version, in order. */
  after(version: number): StoreEvent[] {
    return this.#events.slice(this.#indexAfter(version));
  }

  /** Returns each changed key's state at a version that is not compacted; `undefined` for a key that did not exist. */
  statesAt(version: number): Map<string, Stored | undefined> {
    const states = new Map<string, Stored | undefined>();
    for (const { stored, previous } of this.after(version)) {
      if (!states.has(stored.key)) states.set(stored.key, previous);
    }
    return states;
  }

  #indexAfter(version: number): number {
    let low = this.#start;
    let high = this.#events.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#events[middle]?.version ?? Infinity) <= version) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #cut(): void {
    if (this.#start < 64 || this.#start * 2 < this.#events.length) return;
    this.#events = this.#events.slice(this.#start);
    this.#start = 0;
  }
}
