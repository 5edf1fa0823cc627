/** Executes one run of an object: membership, deletion, finalizer, the author's code, the status. */
import type { WorkQueue } from "../queue/work-queue.ts";
import type { Result } from "../reconcile/context.ts";
import { addFinalizer, hasFinalizer, removeFinalizers, takeBackFailure, tellFailure } from "../reconcile/finalizer.ts";
import type { ObjectRun } from "../reconcile/object-run.ts";
import type { AnyObject } from "../resource/handle.ts";
import type { ControllerScope } from "./controller-scope.ts";
import type { AnyObjectController } from "./definition.ts";
import { outcomeOfError } from "./outcome.ts";
import { leftCause, type PendingFinalizations } from "./pending-finalizations.ts";
import type { WatchedKinds } from "./watched-kinds.ts";

export interface ObjectReconcilerParts {
  readonly kinds: WatchedKinds;
  readonly queue: Pick<WorkQueue, "add">;
  readonly pendingFinalizations: PendingFinalizations;
  /** Resolves when every daemon of the key has ended or can no longer write; `undefined` when there is none. */
  readonly daemonsEnded: (key: string) => Promise<unknown> | undefined;
}

export class ObjectReconciler {
  readonly #scope: ControllerScope;
  readonly #controller: AnyObjectController;
  readonly #parts: ObjectReconcilerParts;

  constructor(scope: ControllerScope, controller: AnyObjectController, parts: ObjectReconcilerParts) {
    this.#scope = scope;
    this.#controller = controller;
    this.#parts = parts;
  }

  /** Executes a run. @throws the error of the author's code, after the status was written. */
  async reconcile(run: ObjectRun): Promise<void | Result> {
    const { declarations, invoke } = this.#scope;
    const { finalizers } = declarations;
    const finalizing = run.deleting || run.leftSelector || !isMember(this.#scope, run.object);
    if (finalizing) {
      if (!hasFinalizer(run.object, finalizers)) return undefined; // the object does not belong to this controller, or no longer
      return this.#finalize(run);
    }
    const [finalizer] = finalizers;
    if (finalizer !== undefined && !run.object.metadata.finalizers?.includes(finalizer)) {
      const { pendingFinalizations, queue } = this.#parts;
      const { key } = run.item;
      const { object } = run;
      // The object may leave the selector before the finalizer arrives. The watch then shows that it left without one,
      // and no later change.
      pendingFinalizations.add(key, object);
      const isAdded = await addFinalizer(run, finalizer);
      if (isAdded && finalizers.length > 1) await removeFinalizers(run, finalizers.slice(1)); // finalizers of earlier names are taken over
      if (isAdded && !this.selects(run.object)) return queue.add(key, { cause: leftCause(object) });
      pendingFinalizations.complete(key, object);
      if (!isAdded) return undefined;
      if (!isMember(this.#scope, run.object)) return this.#finalize(run);
    }
    let result: void | Result;
    try {
      result = await invoke(() => this.#controller.reconcile(run.object, run));
    } catch (error) {
      await flushAfterFailure(run);
      throw error;
    }
    await run.flush();
    return result;
  }

  /** Whether the selector of `for` selects the object. */
  selects(object: AnyObject): boolean {
    return this.#parts.kinds.primary?.covers(object) !== false;
  }

  /**
   * Calls `finalize`, unless the object is only released, and removes the finalizer. While that fails, the finalizer
   * stays and the object's status says why.
   */
  async #finalize(run: ObjectRun): Promise<void | Result> {
    const { declarations, invoke } = this.#scope;
    const { finalizers } = declarations;
    const [finalizer = ""] = finalizers;
    run.finalizing = true;
    const ending = this.#parts.daemonsEnded(run.item.key);
    if (ending !== undefined) await ending;
    let result: void | Result;
    try {
      result = run.releasing ? undefined : await invoke(() => this.#controller.finalize?.(run.object, run));
      if (result?.requeueAfter === undefined) {
        if (!run.releasing) await run.childSet.removeTracked();
        if (!run.deleting) takeBackFailure(run, finalizer, "Finalized");
        await run.flush(); // once the finalizer is removed the object may be gone
        await removeFinalizers(run, finalizers);
      } else takeBackFailure(run, finalizer, "Finalizing"); // finalization continues later: the finalizer stays
    } catch (error) {
      const { kind } = outcomeOfError(error, run.refused !== undefined || run.isCutShort(error));
      if (kind === "fail" || kind === "retry" || kind === "park") await tellFailure(run, finalizer, error);
      await flushAfterFailure(run);
      throw error;
    }
    await run.flush();
    return result;
  }
}

/** Writes the status although the author's code threw, so that nothing it has set is lost. */
async function flushAfterFailure(run: ObjectRun): Promise<void> {
  try {
    await run.flush();
  } catch (error) {
    run.log.warn("Cannot write the status after a failed run", { error });
  }
}

/** Whether an object belongs to the controller. @throws the error of the author's `match`. */
export function isMember(
  { declarations, invoke }: Pick<ControllerScope, "declarations" | "invoke">,
  object: AnyObject,
): boolean {
  const match = declarations.for?.options.match;
  return match === undefined || invoke(() => match(object));
}
