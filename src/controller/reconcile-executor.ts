/**
 * Makes and executes the runs of one controller. A run has the key's cached object, or the server's object if it has
 * left the selector.
 */
import type { QueueItem } from "../queue/entries.ts";
import type { Result } from "../reconcile/context.ts";
import { hasFinalizer } from "../reconcile/finalizer.ts";
import { KeyRun } from "../reconcile/key-run.ts";
import { ObjectRun } from "../reconcile/object-run.ts";
import {
  type ControllerEnvironment,
  handOriginOf,
  type ObjectControllerEnvironment,
  originOf,
} from "../reconcile/run.ts";
import type { AnyObject } from "../resource/handle.ts";
import { objectEnvironment } from "./controller-environment.ts";
import type { ControllerScope } from "./controller-scope.ts";
import type { ControllerShare } from "./controller-share.ts";
import { isObjectController } from "./declarations.ts";
import type { KeyController } from "./definition.ts";
import { isMember, ObjectReconciler, type ObjectReconcilerParts } from "./object-reconciler.ts";

/** The part of its work that a controller still does. */
export type Duty =
  /** All of it. */
  | "reconcile"
  /** It only finalizes objects that are being deleted or are no longer members. */
  | "drain"
  /** It finalizes and releases every object with its finalizer, whether or not the object is being deleted. */
  | "withdraw"
  /** Like `withdraw`, but without calls of the author's `finalize`: anything that it would clean up stays. */
  | "release";

/** Milliseconds for which a key of a new namespace waits until all kinds are listed there. */
const NEW_NAMESPACE_MS = 100;
/** Milliseconds for which a key waits when its object is back in the selector but the watch does not show it yet. */
const RETURNING_MS = 100;

export interface ReconcileExecutorParts extends ObjectReconcilerParts {
  readonly environment: ControllerEnvironment;
  /** The part of the keys that this replica works. @default all */
  readonly share: ControllerShare | undefined;
}

export class ReconcileExecutor {
  /** The part of its work that the controller still does; its retirement sets it. */
  duty: Duty = "reconcile";
  readonly #scope: ControllerScope;
  readonly #parts: ReconcileExecutorParts;
  /** The reconciler of objects, and the parts that their runs share; `undefined` for a key controller. */
  readonly #objects:
    { readonly reconciler: ObjectReconciler; readonly environment: ObjectControllerEnvironment } | undefined;

  constructor(scope: ControllerScope, parts: ReconcileExecutorParts) {
    const { controller } = scope;
    this.#scope = scope;
    this.#parts = parts;
    this.#objects = isObjectController(controller)
      ? { reconciler: new ObjectReconciler(scope, controller, parts), environment: objectEnvironment(scope, parts) }
      : undefined;
  }

  /** Makes the run of a key; `undefined` when there is no object to run for. */
  begin(item: QueueItem): KeyRun | undefined {
    const { environment, kinds, queue, share, pendingFinalizations } = this.#parts;
    const { key, priority } = item;
    if (this.#objects === undefined) return share?.worksKey(key) === false ? undefined : new KeyRun(environment, item);
    if (!kinds.hasListed(key)) {
      queue.add(key, { after: NEW_NAMESPACE_MS, priority, earlier: item.causes });
      return undefined;
    }
    const objects = this.#objects.environment;
    const releasing = this.duty === "release";
    const object = objects.latest(key);
    if (object !== undefined) {
      // The replica that works on the object queues its key when its caches hold it.
      if (share?.works(object) === false || !this.#isDue(object)) return undefined;
      pendingFinalizations.remove(key);
      return new ObjectRun(objects, item, { object, leftSelector: this.#withdraws, releasing });
    }
    const unselected = pendingFinalizations.get(key);
    if (unselected === undefined || share?.works(unselected) === false) return undefined;
    return new ObjectRun(objects, item, { object: unselected, leftSelector: true, releasing });
  }

  execute(run: KeyRun): Promise<void | Result> {
    if (run instanceof ObjectRun && this.#parts.pendingFinalizations.get(run.item.key) === run.object) {
      return this.#executeUnselected(run);
    }
    return this.#executeWithHooks(run);
  }

  /** The key of a run is queued again because of its manual writes: they count as observed. */
  markOwnWritesObserved({ item }: KeyRun): void {
    const { declarations } = this.#scope;
    const origins = [originOf(declarations.name, item.key), handOriginOf(declarations.name, item.key)];
    for (const { informer } of this.#parts.kinds.leases) informer.markObserved(origins);
  }

  get #withdraws(): boolean {
    return this.duty === "withdraw" || this.duty === "release";
  }

  /** Whether an object still needs a run when the controller no longer does all of its work. */
  #isDue(object: AnyObject): boolean {
    if (this.duty === "reconcile") return true;
    if (!hasFinalizer(object, this.#scope.declarations.finalizers)) return false;
    if (this.#withdraws || object.metadata.deletionTimestamp !== undefined) return true;
    try {
      return !isMember(this.#scope, object);
    } catch {
      return true; // the run fails with the error and reports it
    }
  }

  #executeWithHooks(run: KeyRun): Promise<void | Result> {
    const { runtime, module } = this.#scope;
    const { hooks } = runtime;
    if (hooks === undefined || hooks.isEmpty) return this.#execute(run);
    return hooks.execute(run, module, () => this.#execute(run));
  }

  #execute(run: KeyRun): Promise<void | Result> {
    return run instanceof ObjectRun ? this.#objects!.reconciler.reconcile(run) : this.#executeForKey(run);
  }

  async #executeForKey(run: KeyRun): Promise<void | Result> {
    return this.#scope.invoke(() => (this.#scope.controller as KeyController).reconcile(run.key, run));
  }

  /**
   * Finalizes an object that the caches do not show, in the server's present state, if it still exists and is still no
   * member.
   */
  async #executeUnselected(run: ObjectRun): Promise<void | Result> {
    const { object } = run; // as it was last seen
    const { reconciler, environment } = this.#objects!;
    const { resource, core } = environment;
    const live = await core.reader.findLive(resource, object.metadata, {
      signal: run.requestSignal,
      context: run,
    });
    let result: void | Result = undefined;
    if (live !== undefined && hasFinalizer(live, this.#scope.declarations.finalizers)) {
      // A member again, which the cache is about to hold. It stays pending, because it may leave before that.
      if (!this.#withdraws && reconciler.selects(live)) return { requeueAfter: RETURNING_MS };
      run.object = live;
      result = await this.#executeWithHooks(run);
    }
    if (result?.requeueAfter === undefined) this.#parts.pendingFinalizations.complete(run.item.key, object);
    return result;
  }
}
