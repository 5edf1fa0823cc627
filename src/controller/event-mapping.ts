/**
 * Maps events of the cluster to keys in the queue: `match`, `on`, owners, `enqueue`.
 *
 * The handlers are called synchronously during the informers' delivery. A dropped event allocates nothing. Dropped
 * events are:
 *
 * - an event that only shows a write of the key's own run, unless `reconcileOwnWrites` or a new generation makes it
 * count;
 * - in `for`, an object that is no member (`match`) or is being deleted, if it does not carry our finalizer;
 * - in `for`, a deletion, unless the object may only have left the selector, and its last known state has our
 * finalizer;
 * - in `owns`, an object that has, and had, no owner of our group and kind, or one with another UID;
 * - in `owns` and `watches`, an object that `match` rejects; in `watches`, one for which `enqueue` returns no key;
 * - every change that `on` rejects.
 *
 * A key whose object is gone is dropped later: `ReconcileExecutor.begin` makes no run for it.
 */
import type { InformerHandler } from "../cache/informer-handler.ts";
import { isNamespaceSelector } from "../cache/selected-namespaces.ts";
import type { Client } from "../client/client.ts";
import { EventCause } from "../history/event-cause.ts";
import type { RunHistory } from "../history/run-history.ts";
import { type AddOptions, LOW_PRIORITY } from "../queue/work-queue.ts";
import { hasFinalizer } from "../reconcile/finalizer.ts";
import { controllerOf, labelledOwner } from "../reconcile/owner.ts";
import { handOriginOf, originOf } from "../reconcile/run.ts";
import { type AnyObject, groupOf, type Resource } from "../resource/handle.ts";
import { type Key, keyString, type OwnerReference } from "../resource/meta.ts";
import type { AnyController } from "./definition.ts";
import type { Change } from "./predicate.ts";
import type { Enqueued, KindWatch } from "./watch.ts";

/**
 * The writes of a key's own run that make the key run again: all, those that the author made by hand, or none. By
 * default, the runtime's writes do not, because they follow from the run's declarations.
 */
export type OwnNews = "all" | "by hand" | "none";

export function ownNewsOf({ reconcileOwnWrites }: Pick<AnyController, "reconcileOwnWrites">): OwnNews {
  if (reconcileOwnWrites === undefined) return "by hand";
  return reconcileOwnWrites ? "all" : "none";
}

/** The controller as its event handlers use it. */
export interface EventMappingHost {
  readonly controller: string;
  readonly finalizers: readonly string[];
  readonly ownNews: OwnNews;
  /** Knows where changes come from, while runs are recorded. */
  readonly history?: Pick<RunHistory, "originOf"> | undefined;
  add(key: string, options: AddOptions): void;
  /** Queues the key after its active run has succeeded; a run that fails is retried anyway. */
  addAfterRun(key: string, options: AddOptions): void;
  /**
   * Called when the object of the key has left the selector of `for`, or is gone, and its last known state carries our
   * finalizer.
   */
  leftSelector(key: string, object: AnyObject): void;
  /** Called when the object of the key is gone: its failures and back-off are forgotten. */
  gone(key: string): void;
  /** Calls a function of the author. An error is logged, and the event counts as handled. */
  call<T>(what: string, call: () => T): T | undefined;
  /** Called when somebody else has changed a child: marks of ours that the child has lost are remembered. */
  childChanged(resource: Resource, object: AnyObject, old: AnyObject): void;
  /** Called when a child is gone: the memory of it is dropped. */
  childGone(resource: Resource, key: string): void;
  /** Whether the kind is cluster-scoped; for a handle of `resource()` only discovery knows. */
  isClusterScoped(resource: Resource): boolean;
  /** The cached object of `for`; `undefined` also before the cache has synced. */
  primary(key: string): AnyObject | undefined;
  /** Registers pending work, which must end before the workers start. */
  pending(work: Promise<unknown>): void;
  readonly client: Pick<Client, "find" | "list">;
}

type Type = Change<AnyObject>["type"];
type EventInfo = {
  readonly origin?: string | undefined;
  readonly isInInitialList?: boolean;
  readonly isFirstFromOutside?: boolean | undefined;
};

/** Whether the event only shows a write of the key's own run that does not make the key run again. */
function isOwnWrite(host: EventMappingHost, info: EventInfo, key: string): boolean {
  const { controller, ownNews } = host;
  if (info.origin === undefined || ownNews === "all") return false;
  if (info.origin === originOf(controller, key)) return true;
  return ownNews === "none" && info.origin === handOriginOf(controller, key);
}

function passes(host: EventMappingHost, watch: KindWatch, change: Change<AnyObject>): boolean {
  const { on } = watch.options;
  return on === undefined || host.call("on", () => on(change)) === true;
}

function matches(host: EventMappingHost, watch: KindWatch, object: AnyObject): boolean {
  const { match } = watch.options;
  return match === undefined || host.call("match", () => match(object)) === true;
}

interface EventToEnqueue {
  readonly type: Type;
  readonly resource: Resource;
  readonly object: AnyObject;
  readonly old?: AnyObject | undefined;
  readonly source: string;
  readonly info: EventInfo;
}

function enqueue(host: EventMappingHost, key: string, event: EventToEnqueue): void {
  const { type, resource, object, old, source, info } = event;
  const isNews = info.isInInitialList !== true && old?.metadata.resourceVersion !== object.metadata.resourceVersion;
  const origin = host.history?.originOf(object, type);
  const cause = new EventCause({ source, type, resource, object, old: isNews ? old : undefined, origin });
  const options = isNews ? { cause } : { priority: LOW_PRIORITY, cause };
  if (info.origin !== undefined && info.origin === handOriginOf(host.controller, key)) host.addAfterRun(key, options);
  else host.add(key, options);
}

/** Turns the first state from outside into a creation, for controllers that ignore their own writes. */
function changeOf(object: AnyObject, old: AnyObject, info: EventInfo): Change<AnyObject> {
  return info.isFirstFromOutside === true ? { type: "create", object } : { type: "update", object, old };
}

/** Handles members of `for`, and former members that still carry our finalizer. */
export function primaryHandler(host: EventMappingHost, watch: KindWatch): InformerHandler {
  const { resource } = watch;
  const changed = (original: Change<AnyObject>, info: EventInfo): void => {
    const { object, old } = original;
    const key = keyString(object.metadata);
    if (isOwnWrite(host, info, key)) {
      // The echo of the run's own write needs no further run unless it changed the generation.
      if (old === undefined || old.metadata.generation === object.metadata.generation) return;
    }
    const leaving = object.metadata.deletionTimestamp !== undefined;
    if (leaving || !matches(host, watch, object)) {
      if (hasFinalizer(object, host.finalizers)) {
        enqueue(host, key, { type: original.type, resource, object, old, source: "for", info });
      }
      return;
    }
    const joined = old !== undefined && watch.options.match !== undefined && !matches(host, watch, old);
    const change: Change<AnyObject> = joined ? { type: "create", object } : original;
    const { type } = change;
    if (passes(host, watch, change)) enqueue(host, key, { type, resource, object, old, source: "for", info });
  };
  return {
    onAdd: (object, info) => changed({ type: "create", object }, info),
    onUpdate: (object, old, info) => changed(changeOf(object, old, info), info),
    onDelete: (object, { isElsewhere, isGone }) => {
      const key = keyString(object.metadata);
      host.gone(key);
      if (isElsewhere === true || isGone === true) return;
      // The server reports an object that no longer matches the selector as deleted, and one that was deleted in its
      // state before the deletion, with our finalizer. Only a read tells them apart, which the run makes.
      const { labels, fields, namespaces } = watch.options;
      const isSelected = labels !== undefined || fields !== undefined || isNamespaceSelector(namespaces);
      if (isSelected && hasFinalizer(object, host.finalizers)) {
        host.leftSelector(key, object);
        enqueue(host, key, { type: "delete", resource, object, source: "for", info: {} });
      }
    },
  };
}

/** Maps children to their owners, by the controller reference's group, kind and UID, or by label. */
export function ownedHandler(host: EventMappingHost, watch: KindWatch, owner: Resource): InformerHandler {
  const ownerKey = (child: AnyObject, reference: OwnerReference | undefined): string | undefined => {
    if (reference === undefined) {
      const labelled = watch.options.track === "label" ? labelledOwner(child) : undefined;
      return labelled === undefined ? undefined : keyString(labelled);
    }
    if (reference.kind !== owner.kind || groupOf(reference.apiVersion) !== owner.group) return undefined;
    const { namespace } = child.metadata;
    // A cluster-scoped owner has no namespace, whatever namespace the child has.
    const key = host.isClusterScoped(owner) ? reference.name : keyString({ name: reference.name, namespace });
    const ownerObject = host.primary(key);
    return ownerObject !== undefined && ownerObject.metadata.uid !== reference.uid ? undefined : key;
  };
  const tell = (change: Change<AnyObject>, info: EventInfo): void => {
    const { type, object, old } = change;
    const reference = controllerOf(object);
    const key = ownerKey(object, reference);
    let before = key;
    if (old !== undefined) {
      const earlier = controllerOf(old);
      const isSame = reference !== undefined && earlier?.uid === reference.uid && earlier.name === reference.name;
      if (!isSame) before = ownerKey(old, earlier);
    }
    if (key === undefined && before === undefined) return; // another controller's child
    if (!matches(host, watch, object) || !passes(host, watch, change)) return;
    const { resource } = watch;
    if (before !== key) offer(before, { type, resource, object, old, source: "owns", info });
    offer(key, { type, resource, object, old, source: "owns", info });
  };
  const offer = (key: string | undefined, event: EventToEnqueue): void => {
    if (key !== undefined && !isOwnWrite(host, event.info, key)) enqueue(host, key, event);
  };
  return {
    onAdd: (object, info) => tell({ type: "create", object }, info),
    onUpdate: (object, old, info) => {
      if (info.origin === undefined) host.childChanged(watch.resource, object, old);
      tell(changeOf(object, old, info), info);
    },
    onDelete: (object, info) => {
      host.childGone(watch.resource, keyString(object.metadata));
      if (info.isElsewhere === true) return;
      tell({ type: "delete", object }, info);
    },
  };
}

/** Maps objects to the keys that the author's `enqueue` returns for their old and new states, each key once. */
export function mappedHandler(host: EventMappingHost, watch: KindWatch): InformerHandler {
  const map = watch.options.enqueue!;
  const tell = ({ type, object, old }: Change<AnyObject>, info: EventInfo): void => {
    if (!matches(host, watch, object) && (old === undefined || !matches(host, watch, old))) return;
    if (!passes(host, watch, { type, object, old })) return;
    const add = (lists: readonly (readonly Enqueued[] | undefined)[]): void => {
      const keys = host.call("enqueue", () => new Set(lists.flatMap(enqueuedKeys)));
      for (const key of keys ?? []) {
        if (isOwnWrite(host, info, key)) continue;
        enqueue(host, key, { type, resource: watch.resource, object, old, source: "watches", info });
      }
    };
    const results = (old === undefined ? [object] : [old, object]).map((state) =>
      host.call("enqueue", () => map(state, { client: host.client })),
    );
    if (results.some((result) => result instanceof Promise)) {
      host.pending(Promise.all(results.map((result) => Promise.resolve(result))).then(add));
    } else {
      add(results as (readonly Enqueued[] | undefined)[]);
    }
  };
  return {
    onAdd: (object, info) => tell({ type: "create", object }, info),
    onUpdate: (object, old, info) => tell(changeOf(object, old, info), info),
    onDelete: (object, info) => tell({ type: "delete", object }, info),
  };
}

/** Returns the queue's keys for what an author's function returned. */
export function enqueuedKeys(enqueued: readonly Enqueued[] | undefined): readonly string[] {
  if (enqueued === undefined || enqueued === null) return [];
  if (!Array.isArray(enqueued)) throw new TypeError("Cannot enqueue: expected a list of objects or keys");
  return enqueued.map((one) => keyString(keyOf(one)));
}

/** The key is checked because modules may be plain JavaScript. */
function keyOf(enqueued: Enqueued): Key {
  const key: Key | undefined =
    typeof enqueued === "object" && enqueued !== null && "metadata" in enqueued ? enqueued.metadata : enqueued;
  if (typeof key?.name === "string") return key;
  throw new TypeError(`Cannot enqueue ${JSON.stringify(enqueued)}: expected an object, or a key { namespace, name }`);
}
