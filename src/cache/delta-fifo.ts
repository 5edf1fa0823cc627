/** Queues the changes of objects, in order, until they are applied to the store. */
import type { AnyObject } from "../resource/handle.ts";
import { compareVersions, keyString } from "../resource/meta.ts";
import { WorkSignal } from "./work-signal.ts";

export type DeltaType = "Added" | "Updated" | "Deleted" | "Replaced" | "Sync";

/** A list, in the form in which its deltas refer to it. */
export interface ListMark {
  readonly resourceVersion: string;
  /** Increases with each list of a reflector. */
  readonly sequence: number;
  /** Whether objects of a known version are taken again, because more of them is needed than before. */
  readonly refresh?: boolean;
  /** For a checking list, the version up to which everything should have been known. */
  readonly known?: string | undefined;
  /** The server's versions went back, as after a restored backup, so that older versions count as newer. */
  readonly reset?: boolean;
}

/** A change of one object; `next` is the next change of the same object. */
export class Delta {
  readonly type: DeltaType;
  /** The state of the object; for a deletion that was not seen, the last known one. */
  object: AnyObject;
  /** The list that showed the object, or that no longer showed it. */
  list: ListMark | undefined;
  next: Delta | undefined = undefined;

  constructor(type: DeltaType, object: AnyObject, list?: ListMark) {
    this.type = type;
    this.object = object;
    this.list = list;
  }
}

/** The objects that the consumer knows already. */
export interface KnownObjects {
  keys(): Iterable<string>;
  get(key: string): AnyObject | undefined;
}

export interface DeltaFifoOptions {
  /** The objects with which a list is compared, besides the queue. @default none */
  readonly known?: KnownObjects | undefined;
  /** Applied once to each object that is added, but not to last known states and not to deltas that the caller made. */
  readonly transform?: ((object: AnyObject) => AnyObject) | undefined;
}

/** The argument that `pop` passes to its consumer. */
export interface Popped {
  readonly key: string;
  /** The changes in order; never empty. */
  readonly deltas: readonly Delta[];
  /** Whether they came with the first list or before it. */
  readonly isInInitialList: boolean;
}

const NOTHING: KnownObjects = { keys: () => [], get: () => undefined };

/**
 * Deltas by key, keys in the order of their first delta.
 *
 * **Guarantees.** All deltas of an object leave together and in order; two consecutive deletions become one. When a
 * list does not show an object that is known or queued, a deletion with its last known state is queued before the
 * objects of the list's last page. Deltas whose processing fails return to the queue, ahead of newer ones.
 *
 * The queue does not apply its deltas: the caller takes them, or applies a delta itself when the queue reports that
 * nothing is queued before it.
 *
 * @see https://pkg.go.dev/k8s.io/client-go/tools/cache#DeltaFIFO
 */
export class DeltaFifo {
  readonly #options: DeltaFifoOptions & { readonly known: KnownObjects };
  readonly #signal = new WorkSignal();
  /**
   * The number of keys of the first list that have not been taken; `undefined` before its end and before any change.
   */
  #initial: number | undefined;
  #lists = 0;
  readonly #queue = new Map<string, Delta>();
  readonly #deferred = new Map<string, Delta>();
  #listKeys = new Set<string>();
  /** The last page, which is queued after the deletions. */
  #page: AnyObject[] = [];
  /**
   * Whether nothing was known when the list began: then there is nothing to delete, so no page waits and no key is
   * remembered.
   */
  #fresh = false;

  constructor(options: DeltaFifoOptions = {}) {
    this.#options = { ...options, known: options.known ?? NOTHING };
  }

  /**
   * Whether the first list has ended and all of it has been taken. If a change comes before any list, it is true at
   * once.
   */
  get hasSynced(): boolean {
    return this.#initial === 0;
  }

  /** Whether the list under way is the first, before which nothing was known. */
  get isFresh(): boolean {
    return this.#fresh;
  }

  /** The number of keys with deltas, including deferred ones. */
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

  event(type: DeltaType, object: AnyObject): void {
    this.#initial ??= 0;
    append(this.#queue, keyString(object.metadata), new Delta(type, this.#transformed(object)));
    this.#signal.notify();
  }

  /**
   * Queues the delta of an event behind those of its key.
   *
   * @returns `true`, without queueing it, when nothing is queued: the caller applies the delta itself.
   */
  admit(key: string, delta: Delta): boolean {
    this.#initial ??= 0;
    if (this.#queue.size === 0) return true;
    append(this.#queue, key, delta);
    this.#signal.notify();
    return false;
  }

  /** Like `admit`, for an object of a list that `isFresh`. */
  admitListed(key: string, delta: Delta): boolean {
    if (this.#queue.size === 0 && this.#deferred.size === 0) return true;
    this.#queueListed(key, delta);
    return false;
  }

  /** Begins a list; an unfinished list is discarded. */
  beginReplace(): void {
    this.#listKeys = new Set();
    this.#page = [];
    this.#fresh = this.size === 0 && isEmpty(this.#options.known.keys());
  }

  replacePage(objects: readonly AnyObject[], list: ListMark): void {
    if (this.#fresh) {
      this.#queueReplaced(
        objects.map((object) => this.#transformed(object)),
        list,
      );
      return;
    }
    const earlier = this.#page;
    this.#page = objects.map((object) => this.#transformed(object));
    for (const object of this.#page) this.#listKeys.add(keyString(object.metadata));
    this.#queueReplaced(earlier, list);
  }

  /** Ends the list. */
  endReplace(list: ListMark): void {
    if (this.#fresh) this.#fresh = false;
    else this.#compare(list);
    this.#initial ??= this.#queue.size;
    this.#signal.notify();
  }

  #compare(list: ListMark): void {
    const { known } = this.#options;
    for (const key of known.keys()) {
      if (this.#listKeys.has(key)) continue;
      this.#queueDeletion(key, this.#last(key)?.object ?? known.get(key), list);
    }
    for (const chains of [this.#queue, this.#deferred]) {
      for (const key of chains.keys())
        if (!this.#listKeys.has(key)) this.#queueDeletion(key, this.#last(key)?.object, list);
    }
    const last = this.#page;
    this.beginReplace();
    this.#queueReplaced(last, list);
  }

  /** Takes a whole list at once; a version alone makes it the list after the previous one. */
  replace(objects: readonly AnyObject[], mark: ListMark | string): void {
    const list = typeof mark === "string" ? { resourceVersion: mark, sequence: ++this.#lists } : mark;
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

  /** Takes everything that is queued, key by key; deferred deltas stay. */
  drain(apply: (key: string, delta: Delta) => void): void {
    for (const [key, first] of this.#queue) {
      this.#queue.delete(key);
      this.#countTaken();
      for (let delta: Delta | undefined = first; delta !== undefined; delta = delta.next) apply(key, delta);
    }
  }

  /**
   * Waits for a key, takes all its deltas and processes them.
   *
   * @param process when it fails, the deltas return to the queue, ahead of newer ones of the key.
   * @returns the result of `process`.
   * @throws the error of `process`, an Error when the queue is closed, or the signal's reason.
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

  /** Closes the queue: pending and later calls of `pop` fail. */
  close(): void {
    this.#signal.close();
  }

  /** The keys that have deferred deltas. */
  get deferredKeys(): Iterable<string> {
    return this.#deferred.keys();
  }

  /** Whether a key has deferred deltas. */
  hasDeferred(key: string): boolean {
    return this.#deferred.has(key);
  }

  /** Whether an object has deferred deltas. */
  hasDeferredObject(key: string, uid: string): boolean {
    let delta = this.#deferred.get(key);
    while (delta !== undefined && delta.object.metadata.uid !== uid) delta = delta.next;
    return delta !== undefined;
  }

  /** Defers a delta until `release`, behind earlier ones of its key. Lists are compared with deferred deltas too. */
  defer(key: string, delta: Delta): void {
    this.#initial ??= 0;
    append(this.#deferred, key, delta);
  }

  /** Takes the deferred deltas of a key. @returns the first of them. */
  release(key: string): Delta | undefined {
    const first = this.#deferred.get(key);
    if (first !== undefined) this.#deferred.delete(key);
    return first;
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

  /**
   * Objects of a list are not deferred, or an informer could be synced without them, unless earlier events of their key
   * are.
   */
  #queueListed(key: string, delta: Delta): void {
    append(this.#deferred.has(key) ? this.#deferred : this.#queue, key, delta);
  }

  #queueReplaced(objects: readonly AnyObject[], list: ListMark): void {
    for (const object of objects) this.#queueListed(keyString(object.metadata), new Delta("Replaced", object, list));
  }

  #queueDeletion(key: string, object: AnyObject | undefined, list: ListMark): void {
    const last = this.#last(key);
    // A pending deletion now also represents the object's absence from the list.
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
  // The queued deletion was seen, or is equivalent to the new one.
  if (last.type === "Deleted" && delta.type === "Deleted") return;
  last.next = delta;
}

/** Whether a list shows a state that should have been known; an object that is missing may have been deleted since. */
export function isMissed({ type, object }: Delta, stored: AnyObject | undefined, known: string): boolean {
  const { resourceVersion } = object.metadata;
  return (
    type === "Replaced" &&
    stored?.metadata.resourceVersion !== resourceVersion &&
    compareVersions(resourceVersion, known) <= 0
  );
}
