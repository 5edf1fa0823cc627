/**
 * From what happened in the cluster to keys in the queue: `match`, `on`, owners, `enqueue`.
 *
 * The handlers run inside the informers' delivery, synchronously; nothing is allocated for an event that is dropped.
 */
import type { InformerHandler } from "../cache/informer-handler.ts";
import { isNamespaceSelector } from "../cache/selected-namespaces.ts";
import type { Client } from "../client/client.ts";
import { hasFinalizer } from "../reconcile/finalizer.ts";
import { controllerOf, labelledOwner } from "../reconcile/owner.ts";
import { handOriginOf, originOf } from "../reconcile/run.ts";
import type { AddOptions } from "../queue/work-queue.ts";
import { type AnyObject, groupOf, type Resource } from "../resource/handle.ts";
import { type Key, keyString, type OwnerReference } from "../resource/meta.ts";
import type { Change } from "./predicate.ts";
import type { Enqueued, KindWatch } from "./watch.ts";

/** Of what was there before, or has not changed: after everything that happens now. */
export const LOW_PRIORITY = -100;

/**
 * Which writes of a key's own run are news to that key: all, those that the author made by hand, or none. What the
 * runtime writes follows from what the run declared, so that by default it is none.
 */
export type OwnNews = "all" | "by hand" | "none";

/** The controller, as its event handlers see it. */
export interface EventSink {
  readonly controller: string;
  readonly finalizers: readonly string[];
  readonly ownNews: OwnNews;
  add(key: string, options: AddOptions): void;
  /** Queues the key when the run under way for it has ended, unless that run fails: then it runs again anyway. */
  addAfterRun(key: string, options: AddOptions): void;
  /** The object of the key left the selector of `for`, and still carries our finalizer. */
  departed(key: string, object: AnyObject): void;
  /** The object of the key is gone: its failures and delays with it. */
  gone(key: string): void;
  /** Runs a function of the author; a throw is reported, and the event counts as handled. */
  call<T>(what: string, call: () => T): T | undefined;
  /** A child is gone, and what was remembered of it. */
  childGone(resource: Resource, key: string): void;
  /** Whether the kind has no namespaces; for a handle of `resource()` only discovery knows. */
  isClusterScoped(resource: Resource): boolean;
  /** The object of `for` as the cache has it; `undefined` also while the cache is not synced. */
  primary(key: string): AnyObject | undefined;
  /** Waits for work that began before the workers start. */
  pending(work: Promise<unknown>): void;
  readonly client: Pick<Client, "find" | "list">;
}

type Type = Change<AnyObject>["type"];
type Told = {
  readonly origin?: string | undefined;
  readonly isInInitialList?: boolean;
  readonly isFirstFromOutside?: boolean | undefined;
};

/** Whether it only shows what the key's own run wrote, and that is no news to the key. */
function isEcho(sink: EventSink, told: Told, key: string): boolean {
  const { controller, ownNews } = sink;
  if (told.origin === undefined || ownNews === "all") return false;
  if (told.origin === originOf(controller, key)) return true;
  return ownNews === "none" && told.origin === handOriginOf(controller, key);
}

function passes(sink: EventSink, watch: KindWatch, change: Change<AnyObject>): boolean {
  const { on } = watch.options;
  return on === undefined || sink.call("on", () => on(change)) === true;
}

function matches(sink: EventSink, watch: KindWatch, object: AnyObject): boolean {
  const { match } = watch.options;
  return match === undefined || sink.call("match", () => match(object)) === true;
}

interface Enqueueing {
  readonly type: Type;
  readonly object: AnyObject;
  readonly old?: AnyObject | undefined;
  readonly source: string;
  readonly told: Told;
}

function enqueue(sink: EventSink, key: string, event: Enqueueing): void {
  const { type, object, old, source, told } = event;
  const { kind, metadata } = object;
  const { name, namespace, resourceVersion } = metadata;
  const cause = { source, type, kind, key: { name, namespace }, resourceVersion };
  const isNews = told.isInInitialList !== true && old?.metadata.resourceVersion !== resourceVersion;
  const options = isNews ? { cause } : { priority: LOW_PRIORITY, cause };
  if (told.origin !== undefined && told.origin === handOriginOf(sink.controller, key)) sink.addAfterRun(key, options);
  else sink.add(key, options);
}

/** To a controller that takes no notice of its own writes, what is first shown from outside is new. */
function changeOf(object: AnyObject, old: AnyObject, told: Told): Change<AnyObject> {
  return told.isFirstFromOutside === true ? { type: "create", object } : { type: "update", object, old };
}

/** Members of `for`, and former members that still carry our finalizer. */
export function primaryHandler(sink: EventSink, watch: KindWatch): InformerHandler {
  const changed = (given: Change<AnyObject>, told: Told): void => {
    const { object, old } = given;
    const key = keyString(object.metadata);
    if (isEcho(sink, told, key)) {
      // An echo of the run's own write needs no other run, unless it changed what reconcile works from.
      if (old === undefined || old.metadata.generation === object.metadata.generation) return;
    }
    const leaving = object.metadata.deletionTimestamp !== undefined;
    if (leaving || !matches(sink, watch, object)) {
      if (hasFinalizer(object, sink.finalizers)) {
        enqueue(sink, key, { type: given.type, object, old, source: "for", told });
      }
      return;
    }
    const joined = old !== undefined && watch.options.match !== undefined && !matches(sink, watch, old);
    const change: Change<AnyObject> = joined ? { type: "create", object } : given;
    if (passes(sink, watch, change)) enqueue(sink, key, { type: change.type, object, old, source: "for", told });
  };
  return {
    onAdd: (object, told) => changed({ type: "create", object }, told),
    onUpdate: (object, old, told) => changed(changeOf(object, old, told), told),
    onDelete: (object) => {
      const key = keyString(object.metadata);
      sink.gone(key);
      // A selector shows an object that no longer matches as deleted.
      const { labels, fields, namespaces } = watch.options;
      const isSelected = labels !== undefined || fields !== undefined || isNamespaceSelector(namespaces);
      if (isSelected && hasFinalizer(object, sink.finalizers)) {
        sink.departed(key, object);
        enqueue(sink, key, { type: "delete", object, source: "for", told: {} });
      }
    },
  };
}

/** Owners of children, by the controller reference's group, kind and UID, or by label. */
export function ownedHandler(sink: EventSink, watch: KindWatch, owner: Resource): InformerHandler {
  const ownerKey = (child: AnyObject, reference: OwnerReference | undefined): string | undefined => {
    if (reference === undefined) {
      const labelled = watch.options.track === "label" ? labelledOwner(child) : undefined;
      return labelled === undefined ? undefined : keyString(labelled);
    }
    if (reference.kind !== owner.kind || groupOf(reference.apiVersion) !== owner.group) return undefined;
    const { namespace } = child.metadata;
    // A cluster-scoped owner has no namespace, whatever the child's is.
    const key = sink.isClusterScoped(owner) ? reference.name : keyString({ name: reference.name, namespace });
    const known = sink.primary(key);
    return known !== undefined && known.metadata.uid !== reference.uid ? undefined : key;
  };
  const tell = (change: Change<AnyObject>, told: Told): void => {
    const { type, object, old } = change;
    const reference = controllerOf(object);
    const key = ownerKey(object, reference);
    let before = key;
    if (old !== undefined) {
      const earlier = controllerOf(old);
      const isSame = reference !== undefined && earlier?.uid === reference.uid && earlier.name === reference.name;
      if (!isSame) before = ownerKey(old, earlier);
    }
    if (key === undefined && before === undefined) return; // foreign
    if (!matches(sink, watch, object) || !passes(sink, watch, change)) return;
    if (before !== key) offer(before, { type, object, old, source: "owns", told });
    offer(key, { type, object, old, source: "owns", told });
  };
  const offer = (key: string | undefined, event: Enqueueing): void => {
    if (key !== undefined && !isEcho(sink, event.told, key)) enqueue(sink, key, event);
  };
  return {
    onAdd: (object, told) => tell({ type: "create", object }, told),
    onUpdate: (object, old, told) => tell(changeOf(object, old, told), told),
    onDelete: (object, told) => {
      sink.childGone(watch.resource, keyString(object.metadata));
      tell({ type: "delete", object }, told);
    },
  };
}

/** The keys that the author's `enqueue` names, for the old and the new state, each once. */
export function mappedHandler(sink: EventSink, watch: KindWatch): InformerHandler {
  const map = watch.options.enqueue!;
  const tell = ({ type, object, old }: Change<AnyObject>, told: Told): void => {
    if (!matches(sink, watch, object) && (old === undefined || !matches(sink, watch, old))) return;
    if (!passes(sink, watch, { type, object, old })) return;
    const add = (lists: readonly (readonly Enqueued[] | undefined)[]): void => {
      const keys = sink.call("enqueue", () => new Set(lists.flatMap(enqueuedKeys)));
      for (const key of keys ?? []) {
        if (isEcho(sink, told, key)) continue;
        enqueue(sink, key, { type, object, old, source: "watches", told });
      }
    };
    const results = (old === undefined ? [object] : [old, object]).map((state) =>
      sink.call("enqueue", () => map(state, { client: sink.client })),
    );
    if (results.some((result) => result instanceof Promise)) {
      sink.pending(Promise.all(results.map((result) => Promise.resolve(result))).then(add));
    } else {
      add(results as (readonly Enqueued[] | undefined)[]);
    }
  };
  return {
    onAdd: (object, told) => tell({ type: "create", object }, told),
    onUpdate: (object, old, told) => tell(changeOf(object, old, told), told),
    onDelete: (object, told) => tell({ type: "delete", object }, told),
  };
}

/** The queue's keys of what an author enqueued. */
export function enqueuedKeys(enqueued: readonly Enqueued[] | undefined): readonly string[] {
  if (enqueued === undefined || enqueued === null) return [];
  if (!Array.isArray(enqueued)) throw new TypeError("Cannot enqueue: expected a list of objects or keys");
  return enqueued.map((one) => keyString(keyOf(one)));
}

/** Checked, because keys also come from plain JavaScript. */
function keyOf(enqueued: Enqueued): Key {
  const key: Key | undefined =
    typeof enqueued === "object" && enqueued !== null && "metadata" in enqueued ? enqueued.metadata : enqueued;
  if (typeof key?.name === "string") return key;
  throw new TypeError(`Cannot enqueue ${JSON.stringify(enqueued)}: expected an object, or a key { namespace, name }`);
}
