/** The objects of one resource. */
import { History, type HistoryLimits } from "./history.ts";
import type { Stored, StoreEvent } from "./stored.ts";

type Listener = (event: StoreEvent) => void;

/** Objects by key, their recent changes, and who wants to hear of the next. */
export class Collection {
  /** `group/plural`. */
  readonly name: string;
  readonly history: History;
  readonly #objects = new Map<string, Stored>();
  readonly #listeners = new Set<Listener>();
  /** Every object in order of keys; dropped when a key comes or goes. */
  #sorted: Stored[] | undefined;

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

  /** In the order of keys, as a list answers. */
  all(): readonly Stored[] {
    return (this.#sorted ??= sortedByKey([...this.#objects.values()]));
  }

  /** The objects at an earlier version that is not compacted. */
  allAt(version: number): readonly Stored[] {
    const states = this.history.statesAt(version);
    if (states.size === 0) return this.all();
    const then = [...this.#objects.values()].filter(({ key }) => !states.has(key));
    for (const state of states.values()) if (state !== undefined) then.push(state);
    return sortedByKey(then);
  }

  /** Takes in an object without an event: at start, from the journal. */
  restore(stored: Stored): void {
    this.#objects.set(stored.key, stored);
    this.#sorted = undefined;
  }

  /** Makes a change visible to readers. */
  apply(event: StoreEvent): void {
    const { type, stored } = event;
    if (type === "DELETED") this.#objects.delete(stored.key);
    else this.#objects.set(stored.key, stored);
    if (type === "MODIFIED" && this.#sorted !== undefined) replaceByKey(this.#sorted, stored);
    else this.#sorted = undefined;
    this.history.add(event);
  }

  /** Takes the last change back before anybody was told of it. */
  revert(event: StoreEvent): void {
    const { stored, previous } = event;
    if (previous === undefined) this.#objects.delete(stored.key);
    else this.#objects.set(stored.key, previous);
    this.#sorted = undefined;
    this.history.revert(event);
  }

  /** Tells the listeners of a change. */
  announce(event: StoreEvent): void {
    for (const listener of this.#listeners) listener(event);
  }

  /** @returns what ends it. */
  listen(listener: Listener): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }
}

/** etcd's order is that of bytes: a namespace ends before any character that a name can have. */
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
