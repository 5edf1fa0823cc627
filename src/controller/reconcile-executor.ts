/** Makes and executes the runs of one controller: for a key, with its object as cached, or, if it left the selector, as the server has it. */
import type { AppliedMemory } from "../client/applied-memory.ts";
import type { AddOptions } from "../queue/work-queue.ts";
import type { QueueItem } from "../queue/queue-item.ts";
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
import { type Declarations, isObjectController } from "./declarations.ts";
import type { AnyController, KeyController } from "./definition.ts";
import type { Duty } from "./duty.ts";
import { PendingFinalizations } from "./pending-finalizations.ts";
import { type EventMappingHost, LOW_PRIORITY } from "./event-mapping.ts";
import { ObjectSources } from "./object-sources.ts";
import { findMissedFinalizations } from "./missed-finalizations.ts";
import { isMember, type Invoke, reconcileObject, type ObjectReconciler } from "./object-reconciler.ts";
import type { ControllerShare } from "./controller-share.ts";
import type { Runtime } from "./runtime.ts";
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

/** What daemons and timers need from around them. */
export interface ExecutorSurroundings {
  readonly runtime: Runtime;
  readonly module: string;
  /** Fires when the controller is to stop. */
  readonly signal: AbortSignal;
  /** The daemons and timers of the previous version. @default none */
  readonly before: ObjectSources | undefined;
}

export interface ReconcileExecutorOptions {
  readonly around: ExecutorSurroundings;
  readonly declarations: Declarations;
  readonly environment: ControllerEnvironment;
  readonly kinds: WatchedKinds;
  readonly memory: AppliedMemory;
  /** Whether a module of this process exports the kind. */
  readonly isDefined: (resource: Resource) => boolean;
  readonly invoke: Invoke;
  readonly add: (key: string, options: AddOptions) => void;
  /** The part of the keys that this replica works. @default all */
  readonly share: ControllerShare | undefined;
  /** Those of the previous version. @default none */
  readonly pendingFinalizations?: PendingFinalizations | undefined;
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
  readonly #controller: AnyController;
  readonly #options: ReconcileExecutorOptions;
  /** The delays of keys whose runs skipped children. */
  readonly #skipped: RateLimiter = exponential(SKIPPED_FIRST_MS, SKIPPED_MOST_MS);
  /** `undefined` for a key controller. */
  readonly #reconciler: ObjectReconciler | undefined;

  constructor(controller: AnyController, options: ReconcileExecutorOptions) {
    this.#controller = controller;
    const { before, ...around } = options.around;
    // The options are kept without the previous version, because that would keep all versions in memory.
    this.#options = { ...options, around: { ...around, before: undefined } };
    this.pendingFinalizations = options.pendingFinalizations ?? new PendingFinalizations();
    const { declarations, environment, kinds, memory, invoke, add, isDefined } = options;
    this.objects = new ObjectSources(controller, {
      ...around,
      environment,
      kinds,
      invoke,
      add,
      before,
      executor: this,
    });
    const daemonsEnded = (key: string): Promise<unknown> | undefined => this.objects.ended(key);
    const resource = declarations.for?.resource as Resource; // a key controller has none, and its runs do not need it
    const objects: ObjectControllerEnvironment = {
      ...environment,
      resource,
      statusShape: new KnownStatusShape({
        resource,
        transport: environment.transport,
        isDefined: () => isDefined(resource), // a closure over the options would keep the version before
      }),
      managers: [declarations.name, ...declarations.formerly],
      owned: kinds.owned,
      childrenCondition: resource === undefined ? "" : `${finalizerName(resource, declarations.name)}-children`,
      skippedChildren: (key, isAny) => this.#requeueSkipped(key, isAny),
      contention: new StatusContention((object) => kinds.primary?.isListed(object) !== false),
      latest: (key) => kinds.primary?.store.get(key),
      memory,
    };
    this.#reconciler = isObjectController(controller)
      ? {
          declarations,
          controller,
          environment: objects,
          invoke,
          selects: (object) => kinds.primary?.covers(object) !== false,
          pendingFinalizations: this.pendingFinalizations,
          lookAtLeft: (key, object) => add(key, { cause: leftCause(object) }),
          daemonsEnded,
        }
      : undefined;
  }

  /** Makes the run of a key; `undefined` when there is no object to run for. */
  begin(item: QueueItem): KeyRun | undefined {
    const { environment, kinds, add, share } = this.#options;
    const { key, priority } = item;
    if (this.#reconciler === undefined)
      return share?.worksKey(key) === false ? undefined : new KeyRun(environment, item);
    if (!kinds.hasListed(key)) {
      add(key, { after: NEW_NAMESPACE_MS, priority, earlier: item.causes });
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
    if (!hasFinalizer(object, this.#options.declarations.finalizers)) return false;
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
    const { runtime, module } = this.#options.around;
    const { hooks } = runtime;
    if (hooks === undefined || hooks.isEmpty) return this.#execute(run);
    return hooks.execute(run, module, () => this.#execute(run));
  }

  #execute(run: KeyRun): Promise<void | Result> {
    return run instanceof ObjectRun ? reconcileObject(this.#reconciler!, run) : this.#executeForKey(run);
  }

  markOwnWritesObserved({ item }: KeyRun): void {
    const { declarations, kinds } = this.#options;
    const origins = [originOf(declarations.name, item.key), handOriginOf(declarations.name, item.key)];
    for (const { informer } of kinds.leases) informer.markObserved(origins);
  }

  async #executeForKey(run: KeyRun): Promise<void | Result> {
    return this.#options.invoke(() => (this.#controller as KeyController).reconcile(run.key, run));
  }

  /** Finalizes an object that the caches do not show, as the server has it now, if it is still there and still no member. */
  async #executeUnselected(run: ObjectRun): Promise<void | Result> {
    const { object } = run; // as it was last seen
    const { environment, selects } = this.#reconciler!;
    const { resource, core } = environment;
    const live = await core.reader.findLive(resource, object.metadata, { signal: run.requestSignal });
    let result: void | Result = undefined;
    if (live !== undefined && hasFinalizer(live, this.#options.declarations.finalizers)) {
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
    if (reconciler === undefined || this.#options.share?.works(object) === false) return false;
    return events.call("match", () => isMember(reconciler, object)) === true;
  }

  #requeueSkipped(key: string, isAny: boolean): void {
    if (isAny) this.#options.add(key, { after: this.#skipped.delay(key), cause: SKIPPED });
    else this.#skipped.forget(key);
  }

  /** The keys of all objects of the controller once they are listed; the controller's name if it reconciles no objects. */
  *allKeys(host: Pick<EventMappingHost, "call">, isMeant: IsMeant = ALL): Generator<string> {
    const { listedPrimary } = this.#options.kinds;
    const reconciler = this.#reconciler;
    if (reconciler === undefined) yield this.#options.declarations.name;
    else if (listedPrimary !== undefined) {
      for (const [key, object] of listedPrimary.store.entries()) {
        if (isMeant(object) && host.call("match", () => isMember(reconciler, object)) === true) yield key;
      }
    }
  }

  /** Queues all members, or some. */
  addAll(events: Pick<EventMappingHost, "call">, cause: Cause, isMeant?: IsMeant): void {
    for (const key of this.allKeys(events, isMeant)) this.#options.add(key, { cause, priority: LOW_PRIORITY });
  }

  /** Queues all objects that left the selector of `for` while no process watched, unless that has been done. */
  async findAllMissed(runtime: Runtime, signal: AbortSignal): Promise<void> {
    if (this.missed !== "unknown") return;
    this.missed = "sought";
    await this.findMissedFinalizations(runtime, signal);
    if (!signal.aborted) this.missed = "found";
  }

  /** Queues objects that left the selector of `for` while no process watched. */
  async findMissedFinalizations(
    runtime: Runtime,
    signal: AbortSignal,
    {
      isMeant = (object) => this.#options.share?.works(object) !== false,
      everywhere,
    }: { readonly isMeant?: IsMeant | undefined; readonly everywhere?: boolean } = {},
  ): Promise<void> {
    const { declarations, kinds, add } = this.#options;
    if (declarations.for === undefined) return;
    const shows = (key: string, object: AnyObject): boolean =>
      kinds.primary?.store.has(key) === true || !isMeant(object);
    const found = (key: string, object: AnyObject): void => {
      if (shows(key, object)) return;
      this.pendingFinalizations.add(key, object);
      add(key, { cause: leftCause(object) });
    };
    const { for: watch, finalizers } = declarations;
    await findMissedFinalizations({ runtime, watch, finalizers, everywhere, shows, signal, found });
  }
}

function leftCause({ kind, metadata }: AnyObject): Cause {
  return { source: "for", type: "delete", kind, key: { name: metadata.name, namespace: metadata.namespace } };
}
