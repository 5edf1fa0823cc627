/** Executes one run of an object: membership, deletion, finalizer, the author's code, the status. */
import type { Result } from "../reconcile/context.ts";
import { addFinalizer, hasFinalizer, removeFinalizers, takeBackFailure, tellFailure } from "../reconcile/finalizer.ts";
import type { ObjectRun } from "../reconcile/object-run.ts";
import type { ObjectControllerEnvironment } from "../reconcile/run.ts";
import type { AnyObject } from "../resource/handle.ts";
import type { Declarations } from "./declarations.ts";
import type { AnyObjectController } from "./definition.ts";
import { outcomeOfError } from "./outcome.ts";
import type { PendingFinalizations } from "./pending-finalizations.ts";

/** Calls a function of the author in the context of its module. */
export type Invoke = <T>(call: () => T) => T;

/** What executing a run of an object controller needs. */
export interface ObjectReconciler {
  readonly declarations: Declarations;
  readonly controller: AnyObjectController;
  readonly environment: ObjectControllerEnvironment;
  readonly invoke: Invoke;
  /** Whether the selector of `for` selects the object. */
  readonly selects: (object: AnyObject) => boolean;
  readonly pendingFinalizations: PendingFinalizations;
  /** Queues a key to look at an object that has left the selector. */
  readonly lookAtLeft: (key: string, object: AnyObject) => void;
  /** Resolves when every daemon of the key has ended or can no longer write; `undefined` when there is none. */
  readonly daemonsEnded: (key: string) => Promise<unknown> | undefined;
}

/** Executes a run. @throws the error of the author's code, after the status was written. */
export async function reconcileObject(reconciler: ObjectReconciler, run: ObjectRun): Promise<void | Result> {
  const { declarations, controller, invoke } = reconciler;
  const { finalizers } = declarations;
  const finalizing = run.deleting || run.leftSelector || !isMember(reconciler, run.object);
  if (finalizing) {
    if (!hasFinalizer(run.object, finalizers)) return undefined; // the object does not belong to this controller, or no longer
    return finalizeObject(reconciler, run);
  }
  const [finalizer] = finalizers;
  if (finalizer !== undefined && !run.object.metadata.finalizers?.includes(finalizer)) {
    const { pendingFinalizations, selects, lookAtLeft } = reconciler;
    const { key } = run.item;
    const { object } = run;
    // If the object leaves the selector before the finalizer arrives, the watch shows that it left without one, and
    // nothing after.
    pendingFinalizations.add(key, object);
    const isAdded = await addFinalizer(run, finalizer);
    if (isAdded && finalizers.length > 1) await removeFinalizers(run, finalizers.slice(1)); // finalizers of earlier names are taken over
    if (isAdded && !selects(run.object)) return lookAtLeft(key, object);
    pendingFinalizations.complete(key, object);
    if (!isAdded) return undefined;
    if (!isMember(reconciler, run.object)) return finalizeObject(reconciler, run);
  }
  let result: void | Result;
  try {
    result = await invoke(() => controller.reconcile(run.object, run));
  } catch (error) {
    await flushAfterFailure(run);
    throw error;
  }
  await run.flush();
  return result;
}

/**
 * Calls `finalize`, unless the object is only released, and removes the finalizer. While that fails, the finalizer
 * stays and the object's status says why.
 */
async function finalizeObject(reconciler: ObjectReconciler, run: ObjectRun): Promise<void | Result> {
  const { declarations, controller, invoke } = reconciler;
  const { finalizers } = declarations;
  const [finalizer = ""] = finalizers;
  run.finalizing = true;
  const ending = reconciler.daemonsEnded(run.item.key);
  if (ending !== undefined) await ending;
  let result: void | Result;
  try {
    result = run.releasing ? undefined : await invoke(() => controller.finalize?.(run.object, run));
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

/** Whether the object belongs to the controller. */
export function isMember(reconciler: Pick<ObjectReconciler, "declarations" | "invoke">, object: AnyObject): boolean {
  const match = reconciler.declarations.for?.options.match;
  return match === undefined || reconciler.invoke(() => match(object));
}

/** Writes the status although the author's code threw, so that nothing it has set is lost. */
async function flushAfterFailure(run: ObjectRun): Promise<void> {
  try {
    await run.flush();
  } catch (error) {
    run.log.warn("Cannot write the status after a failed run", { error });
  }
}
