/** What one reflector finds, on its way through the delta FIFO into the store and to the handlers. */
import type { WatchType } from "../kube/api/watch.ts";
import type { AnyObject } from "../resource/handle.ts";
import { compareVersions } from "../resource/meta.ts";
import { WriteResponseCache } from "./write-response-cache.ts";
import { Delta, DeltaFifo, type ListMark } from "./delta-fifo.ts";
import { deleteEvent, Delivery } from "./delivery.ts";
import type { Handlers } from "./handlers.ts";
import type { Indexer } from "./indexer.ts";
import type { DeleteEvent } from "./informer-handler.ts";
import type { ObjectTransformer } from "./object-transformer.ts";
import type { ListReason } from "./reflector-state.ts";
import { PendingWrites } from "./pending-writes.ts";
import { isStub } from "./projection.ts";

/** The answer to a write of this process. */
export interface WriteResult {
  /** The object as it is now. */
  readonly object?: AnyObject | undefined;
  /** What the object was parsed from. */
  readonly text?: string | undefined;
  /** The object that is gone. */
  readonly deleted?: { readonly uid: string } | undefined;
  /** Who wrote; handlers are told. */
  readonly origin: string;
}

export interface DeltaProcessorOptions {
  readonly store: Indexer;
  readonly handlers: Handlers;
  /** Empty for all. */
  readonly namespace: string;
  /** Keys with a write of this process under way. */
  readonly held: ReadonlyMap<string, number>;
  /** Reduces an object on its way in; `shared` when others hold it too. */
  readonly transformer: Pick<ObjectTransformer, "transform" | "split">;
  /** Rises whenever more is needed of objects than before. */
  readonly needs: () => number;
  readonly covers: (object: AnyObject) => boolean;
  /** The server has shown something, and it is in the store. */
  readonly onHeard: () => void;
  /** `synced` or `needsMet` may have changed. */
  readonly onSynced: () => void;
}

const DELETED = deleteEvent(false);
const VANISHED = deleteEvent(true);
const DELTAS = { ADDED: "Added", MODIFIED: "Updated", DELETED: "Deleted" } as const;

export class DeltaProcessor {
  readonly #options: DeltaProcessorOptions;
  readonly #store: Indexer;
  readonly #delivery: Delivery;
  readonly #fifo: DeltaFifo;
  readonly #pending = new PendingWrites();
  readonly #responses = new WriteResponseCache();
  readonly #apply = (key: string, delta: Delta): void => this.#applyDelta(key, delta);
  readonly #applyDeferred = (key: string, delta: Delta): void => this.#applyDeferredDelta(key, delta);
  #sequence = 0;
  #reason: ListReason = "initial";
  #list: ListMark | undefined;
  #bookmarked = false;
  /** The needs that every object of the list under way meets. */
  #listNeeds = 0;
  /** Keys of a list that are held: their objects have not met its needs yet. */
  readonly #awaited = new Set<string>();
  /** Of the last list, event or bookmark. */
  resourceVersion = "";
  /** Of the last list that was taken in completely; empty before the first. */
  listedVersion = "";
  /** A list has been taken in completely, since the kind exists. */
  synced = false;
  /** The needs that every object in the store meets. */
  needsMet = 0;
  /** Changes that a checking list showed and no event had told of. */
  differences = 0;
  /** Objects have been taken in: of the list under way, of an earlier one, or as answers to writes. */
  hasTaken = false;

  constructor(options: DeltaProcessorOptions) {
    this.#options = options;
    this.#store = options.store;
    this.#delivery = new Delivery(options.store, options.handlers);
    this.#fifo = new DeltaFifo({
      known: { keys: () => this.#keys(), get: (key) => this.#store.get(key) },
      held: options.held,
      transform: (object) => options.transformer.transform(object, false),
      apply: this.#apply,
    });
  }

  /** Own writes that the stream has not shown yet. */
  get pendingWrites(): number {
    return this.#pending.size;
  }

  beginList(reason: ListReason): void {
    this.#sequence++;
    this.#reason = reason;
    this.#list = undefined;
    this.#listNeeds = this.#options.needs();
    if (reason === "needs") this.hasTaken = false; // all of it is taken again
    this.#fifo.beginReplace();
  }

  page(objects: readonly AnyObject[], resourceVersion: string): void {
    const list = this.#mark(resourceVersion);
    this.#taking();
    this.#fifo.replacePage(this.#fifo.isFresh && this.#pending.size === 0 ? this.#storeStubs(objects) : objects, list);
    this.#fifo.drain(this.#apply);
  }

  /** What is needed more before anything was taken, all of the list will meet. */
  #taking(): void {
    if (!this.hasTaken) this.#listNeeds = this.#options.needs();
    this.hasTaken = true;
  }

  /** Nobody waits for stubs, so those of a first list go into the store as they are. @returns the other objects. */
  #storeStubs(objects: readonly AnyObject[]): readonly AnyObject[] {
    const { stubs, others } = this.#options.transformer.split(objects);
    this.#store.addNew(stubs);
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
    this.#awaited.clear();
    for (const key of this.#fifo.deferredKeys) this.#awaited.add(key);
    if (this.#awaited.size === 0) this.needsMet = this.#listNeeds;
    this.#options.onHeard();
    this.#options.onSynced();
  }

  /** What was written since a first list began, and others deleted before its end, is not there to compare it with. */
  #removeUnlisted(list: ListMark): void {
    for (const key of this.#pending.keysUpTo(list.resourceVersion)) {
      const stored = this.#store.get(key);
      if (stored !== undefined) this.#applyDelta(key, new Delta("Deleted", stored, list));
    }
  }

  /** Takes an event; it reaches the store at once, unless its key is held. */
  event(type: WatchType, object: AnyObject, line?: string): void {
    if (type === "BOOKMARK") this.#bookmarked = true;
    else this.#fifo.event(DELTAS[type], object, line);
    this.resourceVersion = object.metadata.resourceVersion;
  }

  /** Takes a line that repeats an answer; `false` when it is something else. */
  matchWriteEcho(line: string): boolean {
    const known = this.#responses.matchWriteEcho(line);
    if (known === undefined) return false;
    const { key, object } = known;
    if (!this.#fifo.defer(key, object) && !this.#isConfirmed(key, object)) {
      this.#applyDelta(key, new Delta("Updated", object));
    }
    this.resourceVersion = object.metadata.resourceVersion;
    return true;
  }

  flush(): void {
    if (this.#bookmarked || this.#pending.isSweepDue) this.#sweep();
    this.#options.onHeard();
  }

  /** Sends every object again to the handlers whose resync is due. */
  resync(): void {
    this.#fifo.resync();
    this.#fifo.drain(this.#apply);
  }

  /** The kind is gone, and all its objects with it. */
  vanish(): void {
    this.synced = false;
    this.hasTaken = false;
    this.resourceVersion = "";
    this.listedVersion = "";
    this.#fifo.clear();
    this.#pending.clear();
    this.#responses.clear();
    this.#awaited.clear();
    for (const key of this.#keys()) this.#remove(key, this.#store.get(key)!, VANISHED);
    this.#options.onSynced();
  }

  /** The answer to a write of this process. */
  recordWrite(key: string, result: WriteResult): void {
    const { object, deleted, origin } = result;
    if (object !== undefined) this.#recordObject(key, object, result);
    else if (deleted !== undefined) {
      const stored = this.#store.get(key);
      const version = stored?.metadata.uid === deleted.uid ? stored.metadata.resourceVersion : "";
      this.#pending.addDeletion(key, { uid: deleted.uid, version, list: this.#sequence });
      if (stored !== undefined && version !== "") this.#remove(key, stored, deleteEvent(false, origin));
    }
  }

  /** Handlers take notice of what these have written so far, as of any change from outside. */
  markObserved(origins: readonly string[]): void {
    if (this.#pending.size > 0) this.#pending.markObserved(origins, (key) => this.#store.get(key));
  }

  /** What an answer to a write shows, where an event came before it and has been parsed already. */
  findDeferred(key: string, text: string): AnyObject | undefined {
    return this.#fifo.findDeferred(key, text);
  }

  /** No write of the key is under way any more. */
  release(key: string): void {
    this.#fifo.release(key, this.#applyDeferred);
    if (!this.#awaited.delete(key) || this.#awaited.size > 0) return;
    this.needsMet = this.#listNeeds;
    this.#options.onSynced();
  }

  #recordObject(key: string, object: AnyObject, { origin, text }: WriteResult): void {
    const stored = this.#store.get(key);
    const version = object.metadata.resourceVersion;
    const order = stored === undefined ? 1 : compareVersions(version, stored.metadata.resourceVersion);
    const about = { before: stored, outside: !this.#options.covers(object), origin };
    // A write that changed nothing answers with the version that is there.
    if (order === 0) return;
    if (order < 0) {
      if (this.#pending.size > 0 && stored?.metadata.uid === object.metadata.uid) this.#pending.addLate(key, version);
      return;
    }
    if (this.#pending.size > 0 && this.#pending.isSuperseded(key, object)) return;
    // The stream has been here already: what it does not show was deleted since.
    const { uid } = object.metadata;
    const isPast = this.resourceVersion !== "" && compareVersions(version, this.resourceVersion) <= 0;
    if (isPast && stored?.metadata.uid !== uid && !this.#fifo.hasDeferredObject(key, uid)) {
      if (stored !== undefined) this.#remove(key, stored, VANISHED);
      return;
    }
    const taken = this.#options.transformer.transform(object, true);
    this.#taking();
    this.#pending.add(key, taken, about);
    if (about.outside) {
      if (stored !== undefined) this.#remove(key, stored, deleteEvent(false, origin));
      return;
    }
    if (text !== undefined && !this.#fifo.replaceDeferred(key, object, taken)) {
      this.#responses.add({ key, object: taken, text });
    }
    if (stored?.metadata.uid === uid) {
      this.#delivery.replace(key, taken, { stored, old: stored, origin });
      return;
    }
    if (stored !== undefined) this.#remove(key, stored, VANISHED);
    this.#delivery.add(key, taken, { isInitial: false, origin });
  }

  #applyDeferredDelta(key: string, delta: Delta): void {
    const { object, line, shared } = delta;
    if (line !== undefined) {
      delta.line = undefined;
      delta.object =
        this.#responses.matchWriteEcho(line)?.object ?? this.#options.transformer.transform(object, shared);
    }
    // A deletion that a list shows carries the last known state, which may be the answer.
    if (delta.type === "Deleted" || !this.#isConfirmed(key, delta.object)) this.#applyDelta(key, delta);
  }

  /** Whether the stream shows what is in the store, the only write of the key that it has not shown yet. */
  #isConfirmed(key: string, object: AnyObject): boolean {
    return this.#store.get(key) === object && this.#pending.confirm(key, object.metadata.resourceVersion);
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
      if (type !== "Deleted") this.#delivery.add(key, object, { isInitial: !this.synced });
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

  /** More is needed of an object of this version than the store has. */
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
    if (this.#responses.size > 0) {
      this.#responses.forgetUpTo((version) => compareVersions(version, this.resourceVersion) <= 0);
    }
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
        this.#responses.clear();
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

  /** The store may hold other namespaces too, from other processors. */
  *#keys(): Generator<string> {
    const { namespace } = this.#options;
    const prefix = `${namespace}/`;
    for (const key of this.#store.keys()) if (namespace === "" || key.startsWith(prefix)) yield key;
  }
}

/** Whether a list shows a state that should have been known; what was deleted may have gone since. */
function isMissed({ type, object }: Delta, stored: AnyObject | undefined, known: string): boolean {
  const { resourceVersion } = object.metadata;
  return (
    type === "Replaced" &&
    stored?.metadata.resourceVersion !== resourceVersion &&
    compareVersions(resourceVersion, known) <= 0
  );
}
