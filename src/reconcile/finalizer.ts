/**
 * Adds and removes finalizers without overwriting concurrent changes or touching another object of the same name.
 *
 * @see https://kubernetes.io/docs/concepts/overview/working-with-objects/finalizers/
 */
import type { JsonPatchOperation } from "../client/client.ts";
import { guardedPatch } from "../client/write-body.ts";
import { isApiError, isNotFound } from "../kube/errors/api-error.ts";
import type { AnyObject, Resource } from "../resource/handle.ts";
import type { Condition } from "../resource/meta.ts";
import { isCustomKind } from "./custom-kind.ts";
import { failureMessage } from "./kept-secrets.ts";
import type { ObjectRun } from "./object-run.ts";
import type { ObjectRunState } from "./run.ts";

const ATTEMPTS = 5;

/** The finalizer of a controller: `<group of the kind, or binnacle.dev>/<name>`. */
export function finalizerName(resource: Resource, controller: string): string {
  // Finalizers need a domain, and the groups of built-in kinds do not belong to us.
  const group = isCustomKind(resource) ? resource.group : "binnacle.dev";
  return `${group}/${controller}`;
}

/** Whether the object carries one of the finalizers. */
export function hasFinalizer(object: AnyObject, names: readonly string[]): boolean {
  const { finalizers } = object.metadata;
  return finalizers !== undefined && finalizers.some((finalizer) => names.includes(finalizer));
}

/** Adds the finalizer. @returns false when the object is gone or being deleted, because then none may be added. */
export function addFinalizer(run: ObjectRunState, name: string): Promise<boolean> {
  return change(run, "added", (object) => {
    if (object.metadata.deletionTimestamp !== undefined) return "refused";
    const finalizers = object.metadata.finalizers ?? [];
    if (finalizers.includes(name)) return [];
    if (finalizers.length > 0) return [{ op: "add", path: "/metadata/finalizers/-", value: name }];
    // Adding a list would overwrite a list that somebody else adds at the same time, so the patch tests that there is
    // none (null).
    return [
      { op: "test", path: "/metadata/finalizers", value: null },
      { op: "add", path: "/metadata/finalizers", value: [name] },
    ];
  });
}

/** Removes the finalizers, the controller's own and those of its earlier names. */
export function removeFinalizers(run: ObjectRunState, names: readonly string[]): Promise<boolean> {
  return change(run, "removed", (object) => {
    const operations: JsonPatchOperation[] = [];
    (object.metadata.finalizers ?? []).forEach((finalizer, index) => {
      if (!names.includes(finalizer)) return;
      const path = `/metadata/finalizers/${index}`;
      operations.unshift({ op: "test", path, value: finalizer }, { op: "remove", path }); // from the last to the first, so that indices stay valid
    });
    return operations;
  });
}

/**
 * Retries the patch until it fits the current object. @returns false when the object is gone or the change is refused.
 */
async function change(
  run: ObjectRunState,
  what: "added" | "removed",
  plan: (object: AnyObject) => readonly JsonPatchOperation[] | "refused",
): Promise<boolean> {
  const { core, resource } = run.environment;
  let object: AnyObject | undefined = run.latest();
  for (let attempt = 1; object !== undefined && object.metadata.uid === run.object.metadata.uid; attempt++) {
    const operations = plan(object);
    if (operations === "refused") return false;
    if (operations.length === 0) {
      run.object = object;
      return true;
    }
    try {
      run.object = await core.writer.patch(resource, object.metadata, guardedPatch(object, operations), run);
      if (run.record !== undefined) run.record.finalizer = what;
      return true;
    } catch (error) {
      if (isNotFound(error)) return false;
      // A failed test is reported as 422: the object has changed since it was read.
      if (!isApiError(error) || error.code !== 422 || attempt === ATTEMPTS) throw error;
      object = await core.reader.findLive(resource, run.object.metadata, { context: run });
    }
  }
  return false;
}

/**
 * The type of a finalizer's condition. Each finalizer has its own, so that controllers of one kind do not overwrite
 * each other's.
 */
function finalizedCondition(finalizer: string): string {
  return `${finalizer}-finalized`;
}

/** Reports that the finalizer stays, and why. */
export async function tellFailure(run: ObjectRun, finalizer: string, error: unknown): Promise<void> {
  const message = failureMessage(run, error);
  run.events.warning("FinalizeFailed", message);
  if (!(await hasConditions(run))) return;
  const before = present(run, finalizer);
  const isTold = before?.status === "False" && before.reason === "FinalizeFailed";
  // A write makes the other controllers of the object run, and their writes make this one run: with messages that
  // always differ they would never stop.
  if (isTold && (before.message === message || !isPowerOfTwo(run.attempt))) return;
  const type = finalizedCondition(finalizer);
  run.statusWriter.condition({ type, status: false, reason: "FinalizeFailed", message });
}

/** Withdraws the report once `finalize` has succeeded or waits for something. */
export function takeBackFailure(run: ObjectRun, finalizer: string, now: "Finalized" | "Finalizing"): void {
  const before = present(run, finalizer);
  if (before === undefined || before.reason === now) return;
  run.statusWriter.condition({ type: finalizedCondition(finalizer), status: now === "Finalized", reason: now });
}

/** Whether the kind keeps conditions by their types, whoever sets them. */
async function hasConditions(run: ObjectRun): Promise<boolean> {
  try {
    return (await run.environment.statusShape.get()).conditions;
  } catch {
    return false; // the server is unreachable, so the status could not be written either
  }
}

function present(run: ObjectRun, finalizer: string): Condition | undefined {
  const { status } = run.latest() as { readonly status?: { readonly conditions?: readonly Condition[] } };
  const type = finalizedCondition(finalizer);
  return status?.conditions?.find((condition) => condition.type === type);
}

function isPowerOfTwo(attempt: number): boolean {
  return (attempt & (attempt - 1)) === 0;
}
