/** Stores the objects of one resource. */
import { History } from "./history.ts";
import type { HistoryLimits } from "./history-limits.ts";
import type { Stored, StoreEvent } from "./stored.ts";

type Listener = (event: StoreEvent) => void;

/** Objects by key, their recent changes, and the listeners. */
export class Collection {
  /** The name, `group/plural`. */
  readonly name: string;
  readonly history: History;
  readonly #objects = new Map<string, Stored>();
  readonly #listeners = new Set<Listener>();
  /** All objects ordered by key; dropped when a key is added or removed. */
  #sorted: Stored[] | undefined;
  /** Whether a reader holds `#sorted`, so that writes must not change that array. */
  #isRead = false;

  constructor(name: string, { limits, compacted }: { limits: HistoryLimits; compacted: number }) {
    this.name = name;
    this.history = new History(limits, compacted);
  }

  get size(): number {
    return this.#objects.size;
  }

  get(key: string): Stored | undefined {
    return this.#objects.get(key);
  }

  /** Returns all objects ordered by key, like a list. Later writes do not change the returned array. */
  all(): readonly Stored[] {
    this.#isRead = true;
    return (this.#sorted ??= sortedByKey([...this.#objects.values()]));
  }

  /** Returns the objects at an earlier version that is not compacted. */
  allAt(version: number): readonly Stored[] {
    const states = this.history.statesAt(version);
    if (states.size === 0) return this.all();
    const then = [...this.#objects.values()].filter(({ key }) => !states.has(key));
    for (const state of states.values()) if (state !== undefined) then.push(state);
    return sortedByKey(then);
  }

  /** Restores an object from the journal at start, without an event. */
  restore(stored: Stored): void {
    this.#objects.set(stored.key, stored);
    this.#sorted = undefined;
  }

  /** Makes a change visible to readers. */
  apply(event: StoreEvent): void {
    const { type, stored } = event;
    if (type === "DELETED") this.#objects.delete(stored.key);
    else this.#objects.set(stored.key, stored);
    if (type === "MODIFIED" && this.#sorted !== undefined) {
      if (this.#isRead) this.#sorted = [...this.#sorted];
      this.#isRead = false;
      replaceByKey(this.#sorted, stored);
    } else this.#sorted = undefined;
    this.history.add(event);
  }

  /** Reverts the last change before it is announced. */
  revert(event: StoreEvent): void {
    const { stored, previous } = event;
    if (previous === undefined) this.#objects.delete(stored.key);
    else this.#objects.set(stored.key, previous);
    this.#sorted = undefined;
    this.history.revert(event);
  }

  /** Announces a change to the listeners. */
  announce(event: StoreEvent): void {
    for (const listener of this.#listeners) listener(event);
  }

  /** Adds a listener. @returns a function that removes it. */
  listen(listener: Listener): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }
}

/** Sorts like etcd, by bytes: a namespace ends before any character that a name can have. */
function sortedByKey(objects: Stored[]): Stored[] {
  return objects.sort((a, b) => (a.key < b.key ? -1 : 1));
}

function replaceByKey(sorted: Stored[], stored: Stored): void {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((sorted[middle]?.key ?? "") < stored.key) low = middle + 1;
    else high = middle;
  }
  sorted[low] = stored;
}
