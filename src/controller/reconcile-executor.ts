/**
 * Makes and executes the runs of one controller: for a key, with its object as cached, or, if it left the selector, as
 * the server has it.
 */
import type { WorkQueue } from "../queue/work-queue.ts";
import type { QueueItem } from "../queue/entries.ts";
import { exponential, type RateLimiter } from "../queue/rate-limiter.ts";
import type { Result } from "../reconcile/context.ts";
import { finalizerName, hasFinalizer } from "../reconcile/finalizer.ts";
import { KeyRun } from "../reconcile/key-run.ts";
import { ObjectRun } from "../reconcile/object-run.ts";
import {
  handOriginOf,
  type ObjectControllerEnvironment,
  originOf,
  type ControllerEnvironment,
} from "../reconcile/run.ts";
import { StatusContention } from "../reconcile/status-contention.ts";
import { KnownStatusShape } from "../reconcile/status-shape.ts";
import type { Cause } from "../resource/cause.ts";
import type { AnyObject, Resource } from "../resource/handle.ts";
import { isObjectController } from "./declarations.ts";
import type { KeyController } from "./definition.ts";
import type { Handover } from "./handover.ts";
import type { Duty } from "./duty.ts";
import { PendingFinalizations } from "./pending-finalizations.ts";
import type { ControllerScope } from "./controller-scope.ts";
import { type EventMappingHost, LOW_PRIORITY } from "./event-mapping.ts";
import { ObjectSources } from "./object-sources.ts";
import { findMissedFinalizations } from "./missed-finalizations.ts";
import { isMember, reconcileObject, type ObjectReconciler } from "./object-reconciler.ts";
import type { ControllerShare } from "./controller-share.ts";
import type { WatchedKinds } from "./watched-kinds.ts";
import type { RunExecutor } from "./workers.ts";

/** How long a key of a new namespace waits for all kinds to be listed there. */
const NEW_NAMESPACE_MS = 100;
/** How long a key waits after it skipped children, because the caches do not show changes of objects of others. */
const SKIPPED_FIRST_MS = 1_000;
const SKIPPED_MOST_MS = 300_000;
/** How long a key waits whose object is back in the selector, which the watch does not show yet. */
const RETURNING_MS = 100;
const SKIPPED = Object.freeze({ source: "skipped children", type: "generic" });

export interface ReconcileExecutorParts {
  readonly environment: ControllerEnvironment;
  readonly kinds: WatchedKinds;
  readonly queue: Pick<WorkQueue, "add">;
  /** The part of the keys that this replica works. @default all */
  readonly share: ControllerShare | undefined;
}

type IsMeant = (object: AnyObject) => boolean;
const ALL: IsMeant = () => true;

export class ReconcileExecutor implements RunExecutor {
  readonly pendingFinalizations: PendingFinalizations;
  /** Whether all objects are known that left the selector of `for` while no process watched. */
  missed: "unknown" | "sought" | "found" = "unknown";
  /** How much of its work the controller still does. */
  duty: Duty = "reconcile";
  /** Daemons and timers of the objects. */
  readonly objects: ObjectSources;
  readonly #scope: ControllerScope;
  readonly #parts: ReconcileExecutorParts;
  /** The delays of keys whose runs skipped children. */
  readonly #skipped: RateLimiter = exponential(SKIPPED_FIRST_MS, SKIPPED_MOST_MS);
  /** `undefined` for a key controller. */
  readonly #reconciler: ObjectReconciler | undefined;

  /** @param before what the previous version leaves; it is not kept, because that would keep all versions in memory */
  constructor(
    scope: ControllerScope,
    parts: ReconcileExecutorParts,
    before?: Pick<Handover, "pendingFinalizations" | "objects">,
  ) {
    const { controller, declarations, runtime, invoke } = scope;
    const { environment, kinds, queue } = parts;
    this.#scope = scope;
    this.#parts = parts;
    this.pendingFinalizations = before?.pendingFinalizations ?? new PendingFinalizations();
    this.objects = new ObjectSources(scope, { environment, kinds, queue, executor: this }, before?.objects);
    const daemonsEnded = (key: string): Promise<unknown> | undefined => this.objects.ended(key);
    const resource = declarations.for?.resource as Resource; // a key controller has none, and its runs do not need it
    const objects: ObjectControllerEnvironment = {
      ...environment,
      resource,
      statusShape: new KnownStatusShape({
        resource,
        transport: environment.transport,
        isDefined: () => runtime.definedKinds.has(resource),
      }),
      managers: [declarations.name, ...declarations.formerly],
      owned: kinds.owned,
      childrenCondition: resource === undefined ? "" : `${finalizerName(resource, declarations.name)}-children`,
      skippedChildren: (key, isAny) => this.#requeueSkipped(key, isAny),
      contention: new StatusContention((object) => kinds.primary?.isListed(object) !== false),
      latest: (key) => kinds.primary?.store.get(key),
      memory: environment.core.applied,
    };
    this.#reconciler = isObjectController(controller)
      ? {
          declarations,
          controller,
          environment: objects,
          invoke,
          selects: (object) => kinds.primary?.covers(object) !== false,
          pendingFinalizations: this.pendingFinalizations,
          lookAtLeft: (key, object) => queue.add(key, { cause: leftCause(object) }),
          daemonsEnded,
        }
      : undefined;
  }

  /** Makes the run of a key; `undefined` when there is no object to run for. */
  begin(item: QueueItem): KeyRun | undefined {
    const { environment, kinds, queue, share } = this.#parts;
    const { key, priority } = item;
    if (this.#reconciler === undefined)
      return share?.worksKey(key) === false ? undefined : new KeyRun(environment, item);
    if (!kinds.hasListed(key)) {
      queue.add(key, { after: NEW_NAMESPACE_MS, priority, earlier: item.causes });
      return undefined;
    }
    const objects = this.#reconciler.environment;
    const releasing = this.duty === "release";
    const object = objects.latest(key);
    if (object !== undefined) {
      // The replica that works the object queues its key when its caches hold it.
      if (share?.works(object) === false || !this.#isDue(object)) return undefined;
      this.pendingFinalizations.remove(key);
      return new ObjectRun(objects, item, { object, leftSelector: this.#withdraws, releasing });
    }
    const unselected = this.pendingFinalizations.get(key);
    if (unselected === undefined || share?.works(unselected) === false) return undefined;
    return new ObjectRun(objects, item, { object: unselected, leftSelector: true, releasing });
  }

  get #withdraws(): boolean {
    return this.duty === "withdraw" || this.duty === "release";
  }

  /** Whether there is anything to do for an object when the controller no longer does all of its work. */
  #isDue(object: AnyObject): boolean {
    if (this.duty === "reconcile") return true;
    if (!hasFinalizer(object, this.#scope.declarations.finalizers)) return false;
    if (this.#withdraws || object.metadata.deletionTimestamp !== undefined) return true;
    try {
      return !isMember(this.#reconciler!, object);
    } catch {
      return true; // the run fails with the error and reports it
    }
  }

  execute(run: KeyRun): Promise<void | Result> {
    if (run instanceof ObjectRun && this.pendingFinalizations.get(run.item.key) === run.object) {
      return this.#executeUnselected(run);
    }
    return this.#executeWithHooks(run);
  }

  #executeWithHooks(run: KeyRun): Promise<void | Result> {
    const { runtime, module } = this.#scope;
    const { hooks } = runtime;
    if (hooks === undefined || hooks.isEmpty) return this.#execute(run);
    return hooks.execute(run, module, () => this.#execute(run));
  }

  #execute(run: KeyRun): Promise<void | Result> {
    return run instanceof ObjectRun ? reconcileObject(this.#reconciler!, run) : this.#executeForKey(run);
  }

  markOwnWritesObserved({ item }: KeyRun): void {
    const { declarations } = this.#scope;
    const origins = [originOf(declarations.name, item.key), handOriginOf(declarations.name, item.key)];
    for (const { informer } of this.#parts.kinds.leases) informer.markObserved(origins);
  }

  async #executeForKey(run: KeyRun): Promise<void | Result> {
    return this.#scope.invoke(() => (this.#scope.controller as KeyController).reconcile(run.key, run));
  }

  /**
   * Finalizes an object that the caches do not show, as the server has it now, if it is still there and still no
   * member.
   */
  async #executeUnselected(run: ObjectRun): Promise<void | Result> {
    const { object } = run; // as it was last seen
    const { environment, selects } = this.#reconciler!;
    const { resource, core } = environment;
    const live = await core.reader.findLive(resource, object.metadata, { signal: run.requestSignal });
    let result: void | Result = undefined;
    if (live !== undefined && hasFinalizer(live, this.#scope.declarations.finalizers)) {
      // A member again, which the cache is about to hold. It stays pending, because it may leave before that.
      if (!this.#withdraws && selects(live)) return { requeueAfter: RETURNING_MS };
      run.object = live;
      result = await this.#executeWithHooks(run);
    }
    if (result?.requeueAfter === undefined) this.pendingFinalizations.complete(run.item.key, object);
    return result;
  }

  /** Whether the object is a member that this replica works. */
  isOurs(events: Pick<EventMappingHost, "call">, object: AnyObject): boolean {
    const reconciler = this.#reconciler;
    if (reconciler === undefined || this.#parts.share?.works(object) === false) return false;
    return events.call("match", () => isMember(reconciler, object)) === true;
  }

  #requeueSkipped(key: string, isAny: boolean): void {
    if (isAny) this.#parts.queue.add(key, { after: this.#skipped.delay(key), cause: SKIPPED });
    else this.#skipped.forget(key);
  }

  /**
   * The keys of all objects of the controller once they are listed; the controller's name if it reconciles no objects.
   */
  *allKeys(host: Pick<EventMappingHost, "call">, isMeant: IsMeant = ALL): Generator<string> {
    const { listedPrimary } = this.#parts.kinds;
    const reconciler = this.#reconciler;
    if (reconciler === undefined) yield this.#scope.declarations.name;
    else if (listedPrimary !== undefined) {
      for (const [key, object] of listedPrimary.store.entries()) {
        if (isMeant(object) && host.call("match", () => isMember(reconciler, object)) === true) yield key;
      }
    }
  }

  /** Queues all members, or some. */
  addAll(events: Pick<EventMappingHost, "call">, cause: Cause, isMeant?: IsMeant): void {
    for (const key of this.allKeys(events, isMeant)) this.#parts.queue.add(key, { cause, priority: LOW_PRIORITY });
  }

  /** Queues all objects that left the selector of `for` while no process watched, unless that has been done. */
  async findAllMissed(): Promise<void> {
    if (this.missed !== "unknown") return;
    this.missed = "sought";
    await this.findMissedFinalizations();
    if (!this.#scope.stopping.aborted) this.missed = "found";
  }

  /** Queues objects that left the selector of `for` while no process watched. */
  async findMissedFinalizations({
    isMeant = (object) => this.#parts.share?.works(object) !== false,
    everywhere,
  }: { readonly isMeant?: IsMeant | undefined; readonly everywhere?: boolean } = {}): Promise<void> {
    const { declarations, runtime, stopping: signal } = this.#scope;
    const { kinds, queue } = this.#parts;
    if (declarations.for === undefined) return;
    const shows = (key: string, object: AnyObject): boolean =>
      kinds.primary?.store.has(key) === true || !isMeant(object);
    const found = (key: string, object: AnyObject): void => {
      if (shows(key, object)) return;
      this.pendingFinalizations.add(key, object);
      queue.add(key, { cause: leftCause(object) });
    };
    const { for: watch, finalizers } = declarations;
    await findMissedFinalizations({ runtime, watch, finalizers, everywhere, shows, signal, found });
  }
}

function leftCause({ kind, metadata }: AnyObject): Cause {
  return { source: "for", type: "delete", kind, key: { name: metadata.name, namespace: metadata.namespace } };
}
