/** What has happened to objects, in order, until it is applied to the store. */
import type { AnyObject } from "../resource/handle.ts";
import { keyString } from "../resource/meta.ts";
import { isEchoOf } from "./write-response-cache.ts";
import { WorkSignal } from "./work-signal.ts";

export type DeltaType = "Added" | "Updated" | "Deleted" | "Replaced" | "Sync";

/** One list, as the deltas that come from it know it. */
export interface ListMark {
  readonly resourceVersion: string;
  /** Rises with each list of a reflector. */
  readonly sequence: number;
  /** Objects of a version that is known already are taken again: more of them is needed than before. */
  readonly refresh?: boolean;
  /** For a list that checks: the version up to which everything should have been known. */
  readonly known?: string | undefined;
  /** The server's versions went back, as after a restored backup: older ones count as newer. */
  readonly reset?: boolean;
}

/** A change of one object; `next` is the one after it of the same object. */
export class Delta {
  readonly type: DeltaType;
  /** For a deletion that was not seen, the last known state. */
  object: AnyObject;
  /** The list that showed the object, or that no longer showed it. */
  list: ListMark | undefined;
  /** The line of the watch, where the object is still as it was parsed from it. */
  line: string | undefined = undefined;
  /** Somebody else holds the object too. */
  shared = false;
  next: Delta | undefined = undefined;

  constructor(type: DeltaType, object: AnyObject, list?: ListMark) {
    this.type = type;
    this.object = object;
    this.list = list;
  }
}

/** What the consumer has already. */
export interface KnownObjects {
  keys(): Iterable<string>;
  get(key: string): AnyObject | undefined;
}

export interface DeltaFifoOptions {
  /** What a list is compared with besides the queue. @default nothing */
  readonly known?: KnownObjects | undefined;
  /** Applied once to each object on its way in; not to last known states, nor to what is kept back with its line. */
  readonly transform?: ((object: AnyObject) => AnyObject) | undefined;
  /** Keys whose watch events are kept back until `release`. */
  readonly held?: { readonly size: number; has(key: string): boolean } | undefined;
  /** Takes an event, or an object of a first list, at once when nothing is queued before it. @default it is queued */
  readonly apply?: ((key: string, delta: Delta) => void) | undefined;
}

/** What `pop` hands over. */
export interface Popped {
  readonly key: string;
  /** In the order in which they happened; never empty. */
  readonly deltas: readonly Delta[];
  /** They came with the first list, or before it. */
  readonly isInInitialList: boolean;
}

const NOTHING: KnownObjects = { keys: () => [], get: () => undefined };

/**
 * Deltas by key, keys in the order of their first delta.
 *
 * **Guarantees.** All that happened to an object leaves together, in order; two deletions in a row become one. A list
 * produces a deletion, with the last known state, for every object that is known or queued and that it does not show,
 * before the objects of its last page. What a consumer of `pop` fails on comes back, ahead of what is newer.
 *
 * @see https://pkg.go.dev/k8s.io/client-go/tools/cache#DeltaFIFO
 */
export class DeltaFifo {
  readonly #options: DeltaFifoOptions & { readonly known: KnownObjects };
  readonly #signal = new WorkSignal();
  /** Keys that the first list left in the queue and nobody has taken; `undefined` before its end, and before any change. */
  #initial: number | undefined;
  #lists = 0;
  readonly #queue = new Map<string, Delta>();
  readonly #deferred = new Map<string, Delta>();
  #seen = new Set<string>();
  /** The last page waits for the deletions, which come first. */
  #page: AnyObject[] = [];
  /** Nothing was known when the list began: there is nothing to delete, so nothing waits and no key is remembered. */
  #fresh = false;

  constructor(options: DeltaFifoOptions = {}) {
    this.#options = { ...options, known: options.known ?? NOTHING };
  }

  /** The first list has ended and all of it has been taken; true at once where a change comes before any list. */
  get hasSynced(): boolean {
    return this.#initial === 0;
  }

  /** A list is under way, and nothing was known when it began. */
  get isFresh(): boolean {
    return this.#fresh;
  }

  /** Keys with deltas, those kept back included. */
  get size(): number {
    return this.#queue.size + this.#deferred.size;
  }

  add(object: AnyObject): void {
    this.event("Added", object);
  }

  update(object: AnyObject): void {
    this.event("Updated", object);
  }

  delete(object: AnyObject): void {
    this.event("Deleted", object);
  }

  /** @param line of the watch: an object that is kept back stays as it was parsed, for `findDeferred`. */
  event(type: DeltaType, object: AnyObject, line?: string): void {
    this.#initial ??= 0;
    const key = keyString(object.metadata);
    const { held, apply } = this.#options;
    if (held !== undefined && held.size > 0 && held.has(key)) {
      const delta = new Delta(type, line === undefined ? this.#transformed(object) : object);
      delta.line = line;
      append(this.#deferred, key, delta);
      return;
    }
    const delta = new Delta(type, this.#transformed(object));
    if (apply !== undefined && this.#queue.size === 0) {
      apply(key, delta);
      return;
    }
    append(this.#queue, key, delta);
    this.#signal.notify();
  }

  /** Begins a list; what an unfinished one gave before is forgotten. */
  beginReplace(): void {
    this.#seen = new Set();
    this.#page = [];
    this.#fresh = this.size === 0 && isEmpty(this.#options.known.keys());
  }

  replacePage(objects: readonly AnyObject[], list: ListMark): void {
    if (this.#fresh) {
      const { apply } = this.#options;
      for (const object of objects) {
        const taken = this.#transformed(object);
        const key = keyString(taken.metadata);
        const delta = new Delta("Replaced", taken, list);
        if (apply !== undefined && this.#queue.size === 0 && this.#deferred.size === 0) apply(key, delta);
        else this.#queueListed(key, delta);
      }
      return;
    }
    const earlier = this.#page;
    this.#page = objects.map((object) => this.#transformed(object));
    for (const object of this.#page) this.#seen.add(keyString(object.metadata));
    this.#queueReplaced(earlier, list);
  }

  /** The list is complete. */
  endReplace(list: ListMark): void {
    if (this.#fresh) this.#fresh = false;
    else this.#compare(list);
    this.#initial ??= this.#queue.size;
    this.#signal.notify();
  }

  #compare(list: ListMark): void {
    const { known } = this.#options;
    for (const key of known.keys()) {
      if (this.#seen.has(key)) continue;
      this.#queueDeletion(key, this.#last(key)?.object ?? known.get(key), list);
    }
    for (const chains of [this.#queue, this.#deferred]) {
      for (const key of chains.keys())
        if (!this.#seen.has(key)) this.#queueDeletion(key, this.#last(key)?.object, list);
    }
    const last = this.#page;
    this.beginReplace();
    this.#queueReplaced(last, list);
  }

  /** A whole list at once; a version alone is that of the list after the one before. */
  replace(objects: readonly AnyObject[], listed: ListMark | string): void {
    const list = typeof listed === "string" ? { resourceVersion: listed, sequence: ++this.#lists } : listed;
    this.beginReplace();
    this.replacePage(objects, list);
    this.endReplace(list);
  }

  /** Queues a `Sync` for each known object that has nothing queued. */
  resync(): void {
    const { known } = this.#options;
    for (const key of known.keys()) {
      const object = known.get(key);
      if (object !== undefined && !this.#queue.has(key) && !this.#deferred.has(key)) {
        this.#queue.set(key, new Delta("Sync", object));
      }
    }
    this.#signal.notify();
  }

  /** Hands over everything that is not kept back, key by key. */
  drain(apply: (key: string, delta: Delta) => void): void {
    for (const [key, first] of this.#queue) {
      this.#queue.delete(key);
      this.#countTaken();
      for (let delta: Delta | undefined = first; delta !== undefined; delta = delta.next) apply(key, delta);
    }
  }

  /**
   * Waits for a key, takes all its deltas, and has them processed.
   *
   * @param process when it fails, the deltas come back, ahead of newer ones of the key.
   * @returns what it returned.
   * @throws what it threw, when the queue is closed, the signal's reason.
   */
  async pop<R>(process: (popped: Popped) => R | Promise<R>, signal?: AbortSignal): Promise<R> {
    signal?.throwIfAborted();
    this.#signal.assertOpen();
    while (this.#queue.size === 0) await this.#signal.wait(signal);
    const [key, first] = this.#queue.entries().next().value!;
    this.#queue.delete(key);
    const deltas: Delta[] = [];
    for (let delta: Delta | undefined = first; delta !== undefined; delta = delta.next) deltas.push(delta);
    try {
      const result = await process({ key, deltas, isInInitialList: !this.hasSynced });
      this.#countTaken();
      return result;
    } catch (error) {
      deltas.at(-1)!.next = this.#queue.get(key);
      this.#queue.set(key, first);
      this.#signal.notify();
      throw error;
    }
  }

  /** Whoever waits in `pop` is told, and nobody takes anything any more. */
  close(): void {
    this.#signal.close();
  }

  /** Of which deltas are kept back. */
  get deferredKeys(): Iterable<string> {
    return this.#deferred.keys();
  }

  /** Whether deltas of the key are kept back. */
  hasDeferred(key: string): boolean {
    return this.#deferred.has(key);
  }

  /** Whether deltas of that object are kept back. */
  hasDeferredObject(key: string, uid: string): boolean {
    let delta = this.#deferred.get(key);
    while (delta !== undefined && delta.object.metadata.uid !== uid) delta = delta.next;
    return delta !== undefined;
  }

  /** The object of an event that is kept back and shows what an answer shows, as it was parsed; it is shared from now on. */
  findDeferred(key: string, answer: string): AnyObject | undefined {
    let delta = this.#deferred.get(key);
    while (delta !== undefined && (delta.line === undefined || !isEchoOf(delta.line, answer))) delta = delta.next;
    if (delta === undefined) return undefined;
    delta.shared = true;
    return delta.object;
  }

  /** An object from `findDeferred` has been taken in: what is kept back shows that from now on; `false` when there is none. */
  replaceDeferred(key: string, parsed: AnyObject, taken: AnyObject): boolean {
    let delta = this.#deferred.get(key);
    while (delta !== undefined && delta.object !== parsed) delta = delta.next;
    if (delta === undefined) return false;
    delta.object = taken;
    delta.line = undefined;
    return true;
  }

  /** Keeps back what is known already, behind what is kept back of its key; `false` when the key is not held. */
  defer(key: string, object: AnyObject): boolean {
    const { held } = this.#options;
    if (held === undefined || held.size === 0 || !held.has(key)) return false;
    append(this.#deferred, key, new Delta("Updated", object));
    return true;
  }

  /** Hands over what was kept back of one key. */
  release(key: string, apply: (key: string, delta: Delta) => void): void {
    const first = this.#deferred.get(key);
    if (first === undefined) return;
    this.#deferred.delete(key);
    for (let delta: Delta | undefined = first; delta !== undefined; delta = delta.next) apply(key, delta);
  }

  clear(): void {
    this.#queue.clear();
    this.#deferred.clear();
    this.beginReplace();
    this.#fresh = false;
  }

  #countTaken(): void {
    if (this.#initial !== undefined && this.#initial > 0) this.#initial--;
  }

  #transformed(object: AnyObject): AnyObject {
    const { transform } = this.#options;
    return transform === undefined ? object : transform(object);
  }

  /** Lists are not kept back, or an informer could be synced without an object; unless events before them are. */
  #queueListed(key: string, delta: Delta): void {
    append(this.#deferred.has(key) ? this.#deferred : this.#queue, key, delta);
  }

  #queueReplaced(objects: readonly AnyObject[], list: ListMark): void {
    for (const object of objects) this.#queueListed(keyString(object.metadata), new Delta("Replaced", object, list));
  }

  #queueDeletion(key: string, object: AnyObject | undefined, list: ListMark): void {
    const last = this.#last(key);
    // A deletion that waits counts from now on for all that the list has seen.
    if (last?.type === "Deleted") last.list = list;
    else if (object !== undefined) this.#queueListed(key, new Delta("Deleted", object, list));
  }

  #last(key: string): Delta | undefined {
    let last = this.#deferred.get(key) ?? this.#queue.get(key);
    while (last?.next !== undefined) last = last.next;
    return last;
  }
}

function isEmpty(keys: Iterable<string>): boolean {
  for (const _ of keys) return false;
  return true;
}

function append(chains: Map<string, Delta>, key: string, delta: Delta): void {
  let last = chains.get(key);
  if (last === undefined) {
    chains.set(key, delta);
    return;
  }
  while (last.next !== undefined) last = last.next;
  // The deletion that is queued was seen, or is as good as the new one.
  if (last.type === "Deleted" && delta.type === "Deleted") return;
  last.next = delta;
}
