/** Takes the objects of one reflector through the delta FIFO into the store and to the handlers. */
import type { WatchType } from "../kube/api/watch.ts";
import type { AnyObject } from "../resource/handle.ts";
import { compareVersions, keyString } from "../resource/meta.ts";
import { deleteEvent, type Delivery, ELSEWHERE, goneEvent } from "./delivery.ts";
import { Delta, DeltaFifo, type DeltaType, isMissed, type ListMark } from "./delta-fifo.ts";
import type { DeleteEvent } from "./informer-handler.ts";
import { isStub, type ObjectTransformer } from "./object-transformer.ts";
import { PendingWrites, type WriteResult } from "./pending-writes.ts";
import type { ReflectorSink } from "./reflector-sink.ts";
import type { ListReason } from "./reflector-state.ts";
import type { Indexer } from "./store.ts";

export interface DeltaProcessorOptions {
  readonly store: Indexer;
  readonly delivery: Delivery;
  /** The namespace; empty for all namespaces. */
  readonly namespace: string;
  /** The number of own writes in flight for each key. */
  readonly held: ReadonlyMap<string, number>;
  /** Prepares objects for the store. */
  readonly transformer: Pick<ObjectTransformer, "transform" | "split">;
  /** A counter that increases whenever more of each object is needed than before. */
  readonly needs: () => number;
  /** Whether an object belongs to the informer's set. */
  readonly covers: (object: AnyObject) => boolean;
  /** Called with the new state of each added or changed object before it is reduced, and with the state in the store. */
  readonly onEvent?: ((object: AnyObject, stored: AnyObject | undefined) => void) | undefined;
  /** Called when a list or batch of events of the server is in the store. */
  readonly onHeard: () => void;
  /** Called when `synced` or `needsMet` may have changed. */
  readonly onSynced: () => void;
}

const DELETED = deleteEvent(false);
const VANISHED = deleteEvent(true);
const DELTAS = { ADDED: "Added", MODIFIED: "Updated", DELETED: "Deleted" } as const;

export class DeltaProcessor implements ReflectorSink {
  readonly #options: DeltaProcessorOptions;
  readonly #store: Indexer;
  readonly #delivery: Delivery;
  readonly #fifo: DeltaFifo;
  readonly #pending = new PendingWrites();
  readonly #apply = (key: string, delta: Delta): void => this.#applyDelta(key, delta);
  #sequence = 0;
  #reason: ListReason = "initial";
  #list: ListMark | undefined;
  #bookmarked = false;
  /** The needs that every object of the current list meets. */
  #listNeeds = 0;
  /** Keys with a write in flight when the last list ended: their stored objects may not meet the list's needs yet. */
  readonly #openKeys = new Set<string>();
  /** The resource version of the last list, event or bookmark. */
  resourceVersion = "";
  /** The resource version of the last complete list; empty before the first. */
  listedVersion = "";
  /** Whether a complete list has been taken since the kind exists. */
  synced = false;
  /** The needs that every object in the store meets. */
  needsMet = 0;
  /** The number of changes that a checking list has shown without an event for them. */
  differences = 0;
  /** Whether any object has been taken, from a list or from the response to a write. */
  hasTaken = false;

  constructor(options: DeltaProcessorOptions) {
    this.#options = options;
    this.#store = options.store;
    this.#delivery = options.delivery;
    this.#fifo = new DeltaFifo({
      known: { keys: () => this.#keys(), get: (key) => this.#store.get(key) },
      transform: (object) => options.transformer.transform(object, false),
    });
  }

  /** The number of own writes that the watch has not shown yet. */
  get pendingWrites(): number {
    return this.#pending.size;
  }

  beginList(reason: ListReason): void {
    this.#sequence++;
    this.#reason = reason;
    this.#list = undefined;
    this.#listNeeds = this.#options.needs();
    if (reason === "needs") this.hasTaken = false; // everything is taken again
    this.#fifo.beginReplace();
  }

  page(objects: readonly AnyObject[], resourceVersion: string): void {
    const list = this.#mark(resourceVersion);
    this.#taking();
    if (this.#fifo.isFresh) this.#takeFresh(this.#pending.size === 0 ? this.#storeStubs(objects) : objects, list);
    else this.#fifo.replacePage(objects, list);
    this.#fifo.drain(this.#apply);
  }

  /** Objects of a first list are applied directly unless something is queued or deferred before them. */
  #takeFresh(objects: readonly AnyObject[], list: ListMark): void {
    const { transformer } = this.#options;
    for (const object of objects) {
      const state = transformer.transform(object, false);
      const key = keyString(state.metadata);
      const delta = new Delta("Replaced", state, list);
      if (this.#fifo.admitListed(key, delta)) this.#applyDelta(key, delta);
    }
  }

  /** Needs that grow before the first object is taken are met by the whole list. */
  #taking(): void {
    if (!this.hasTaken) this.#listNeeds = this.#options.needs();
    this.hasTaken = true;
  }

  /** Handlers do not receive stubs, so stubs of a first list go directly into the store. @returns the other objects. */
  #storeStubs(objects: readonly AnyObject[]): readonly AnyObject[] {
    const { stubs, others } = this.#options.transformer.split(objects);
    this.#delivery.addStubs(stubs);
    return others;
  }

  endList(resourceVersion: string): void {
    const list = this.#mark(resourceVersion);
    const { isFresh } = this.#fifo;
    this.#taking();
    this.#fifo.endReplace(list);
    this.#fifo.drain(this.#apply);
    if (isFresh) this.#removeUnlisted(list);
    this.#pending.forgetDeletionsBefore(this.#sequence);
    this.synced = true;
    this.resourceVersion = resourceVersion;
    this.listedVersion = resourceVersion;
    this.#sweep();
    this.#openKeys.clear();
    for (const key of this.#fifo.deferredKeys) this.#openKeys.add(key);
    if (this.#openKeys.size === 0) this.needsMet = this.#listNeeds;
    this.#options.onHeard();
    this.#options.onSynced();
  }

  /** Removes objects that were written after a first list had begun and deleted by others before its end. */
  #removeUnlisted(list: ListMark): void {
    for (const key of this.#pending.keysUpTo(list.resourceVersion)) {
      const stored = this.#store.get(key);
      if (stored !== undefined) this.#applyDelta(key, new Delta("Deleted", stored, list));
    }
  }

  /** Takes an event; it reaches the store at once unless its key is held. */
  event(type: WatchType, object: AnyObject): void {
    if (type === "BOOKMARK") this.#bookmarked = true;
    else this.#change(DELTAS[type], object);
    this.resourceVersion = object.metadata.resourceVersion;
  }

  #change(type: DeltaType, object: AnyObject): void {
    const { held, transformer, onEvent } = this.#options;
    const key = keyString(object.metadata);
    if (type !== "Deleted") onEvent?.(object, this.#store.get(key));
    const delta = new Delta(type, transformer.transform(object, false));
    if (held.size > 0 && held.has(key)) this.#fifo.defer(key, delta);
    else if (this.#fifo.admit(key, delta)) this.#applyDelta(key, delta);
  }

  flush(): void {
    if (this.#bookmarked || this.#pending.isSweepDue) this.#sweep();
    this.#options.onHeard();
  }

  /** Calls the handlers whose resync is due for every object. */
  resync(): void {
    this.#fifo.resync();
    this.#fifo.drain(this.#apply);
  }

  /** Removes objects that are no longer kept, though the server still has them. */
  discard(isKept: (object: AnyObject) => boolean): void {
    for (const key of this.#keys()) {
      const stored = this.#store.get(key)!;
      if (!isKept(stored)) this.#remove(key, stored, ELSEWHERE);
    }
  }

  /** Called when the kind is gone: removes all its objects. */
  vanish(): void {
    this.synced = false;
    this.hasTaken = false;
    this.resourceVersion = "";
    this.listedVersion = "";
    this.#fifo.clear();
    this.#pending.clear();
    this.#openKeys.clear();
    for (const key of this.#keys()) this.#remove(key, this.#store.get(key)!, VANISHED);
    this.#options.onSynced();
  }

  /** Takes the result of a write of this process. */
  recordWrite(key: string, result: WriteResult): void {
    const { object, deleted, origin } = result;
    if (object !== undefined) this.#recordObject(key, object, result);
    else if (deleted !== undefined) {
      const stored = this.#store.get(key);
      const version = stored?.metadata.uid === deleted.uid ? stored.metadata.resourceVersion : "";
      this.#pending.addDeletion(key, { uid: deleted.uid, version, list: this.#sequence });
      if (stored !== undefined && version !== "") this.#remove(key, stored, goneEvent(origin));
    }
  }

  /** The writes of these origins count as observed by the handlers, like changes from outside. */
  markObserved(origins: readonly string[]): void {
    if (this.#pending.size > 0) this.#pending.markObserved(origins, (key) => this.#store.get(key));
  }

  /** Called when no write of the key is in flight any more: its deferred events are applied. */
  release(key: string): void {
    for (let delta = this.#fifo.release(key); delta !== undefined; delta = delta.next) this.#applyDelta(key, delta);
    if (!this.#openKeys.delete(key) || this.#openKeys.size > 0) return;
    this.needsMet = this.#listNeeds;
    this.#options.onSynced();
  }

  #recordObject(key: string, object: AnyObject, { origin }: WriteResult): void {
    const stored = this.#store.get(key);
    const version = object.metadata.resourceVersion;
    const order = stored === undefined ? 1 : compareVersions(version, stored.metadata.resourceVersion);
    const about = { before: stored, outside: !this.#options.covers(object), origin };
    // The response to a write that changed nothing has the stored version.
    if (order === 0) return;
    if (order < 0) {
      if (this.#pending.size > 0 && stored?.metadata.uid === object.metadata.uid) this.#pending.addLate(key, version);
      return;
    }
    if (this.#pending.size > 0 && this.#pending.isSuperseded(key, object)) return;
    // The watch has passed this version: an object that it does not show was deleted since.
    const { uid } = object.metadata;
    const isPast = this.resourceVersion !== "" && compareVersions(version, this.resourceVersion) <= 0;
    if (isPast && stored?.metadata.uid !== uid && !this.#fifo.hasDeferredObject(key, uid)) {
      if (stored !== undefined) this.#remove(key, stored, VANISHED);
      return;
    }
    const state = this.#options.transformer.transform(object, true);
    this.#taking();
    this.#pending.add(key, state, about);
    if (about.outside) {
      if (stored !== undefined) this.#remove(key, stored, deleteEvent(false, origin));
      return;
    }
    if (stored?.metadata.uid === uid) {
      this.#delivery.replace(key, state, { stored, old: stored, origin });
      return;
    }
    if (stored !== undefined) this.#remove(key, stored, VANISHED);
    this.#delivery.add(key, state, { isInitial: false, origin });
  }

  #applyDelta(key: string, delta: Delta): void {
    const { type, object, list } = delta;
    if (list?.refresh === true && type === "Replaced") this.#refresh(key, object);
    const stored = this.#store.get(key);
    if (type === "Sync") {
      if (stored !== undefined) this.#delivery.resync(stored);
      return;
    }
    let old = stored;
    if (this.#pending.size > 0) {
      const verdict = this.#pending.judge(key, delta, stored);
      if (verdict.kind === "drop") return;
      if (verdict.kind === "evictStale") {
        this.#remove(key, stored!, VANISHED);
        return;
      }
      if (verdict.kind === "notifyOnly") {
        this.#delivery.tell(stored!, verdict.old);
        return;
      }
      old = verdict.kind === "apply" ? (verdict.old ?? stored) : undefined;
    }
    if (list?.known !== undefined && isMissed(delta, stored, list.known)) this.differences++;
    if (stored === undefined) {
      if (type !== "Deleted") this.#delivery.add(key, object, { isInitial: !this.synced || list?.refresh === true });
      return;
    }
    const isSame = stored.metadata.uid === object.metadata.uid;
    const order = compareVersions(object.metadata.resourceVersion, stored.metadata.resourceVersion);
    if (type === "Deleted") {
      if (list !== undefined) this.#remove(key, stored, VANISHED);
      else if (isSame) this.#delivery.remove(key, stored, { last: object, event: DELETED });
      else if (order > 0) this.#remove(key, stored, VANISHED);
    } else if (!isSame) {
      if (order <= 0 && !list?.reset) return;
      this.#remove(key, stored, VANISHED);
      this.#delivery.add(key, object, { isInitial: !this.synced });
    } else if (order > 0 || old === undefined || (order < 0 && list?.reset)) {
      if (old === stored && list === undefined) this.#delivery.update(key, object, stored);
      else this.#delivery.replace(key, object, { stored, old, isRefresh: list?.refresh });
    }
  }

  /** Stores a more complete object whose version is in the store already. */
  #refresh(key: string, object: AnyObject): void {
    const stored = this.#store.get(key);
    if (stored === undefined || isStub(object)) return;
    const { uid, resourceVersion } = object.metadata;
    if (stored.metadata.uid !== uid || stored.metadata.resourceVersion !== resourceVersion) return;
    this.#delivery.refresh(key, object, stored);
  }

  #remove(key: string, stored: AnyObject, event: DeleteEvent): void {
    this.#delivery.remove(key, stored, { last: stored, event });
  }

  #sweep(): void {
    this.#bookmarked = false;
    if (this.#pending.size > 0) {
      const { held } = this.#options;
      this.#pending.forgetUpTo(this.resourceVersion, (key) => held.has(key) || this.#fifo.hasDeferred(key));
    }
  }

  #mark(resourceVersion: string): ListMark {
    if (this.#list === undefined) {
      const reset = this.resourceVersion !== "" && compareVersions(resourceVersion, this.resourceVersion) < 0;
      if (reset) {
        this.#pending.clear();
      }
      this.#list = {
        resourceVersion,
        sequence: this.#sequence,
        refresh: this.#reason === "needs",
        known: this.#reason === "check" ? this.resourceVersion : undefined,
        reset,
      };
    }
    return this.#list;
  }

  /** The keys of this namespace; the store may hold others too, from other processors. */
  *#keys(): Generator<string> {
    const { namespace } = this.#options;
    const prefix = `${namespace}/`;
    for (const key of this.#store.keys()) if (namespace === "" || key.startsWith(prefix)) yield key;
  }
}
