/**
 * Adds and removes finalizers without overwriting concurrent changes or touching another object of the same name.
 *
 * @see https://kubernetes.io/docs/concepts/overview/working-with-objects/finalizers/
 */
import { guardedPatch } from "../client/write-body.ts";
import type { JsonPatchOperation } from "../client/client.ts";
import { isApiError, isNotFound } from "../kube/errors/api-error.ts";
import type { AnyObject, Resource } from "../resource/handle.ts";
import type { ObjectRunState } from "./run.ts";

const ATTEMPTS = 5;

/** The finalizer of a controller: `<group of the kind, or binnacle.dev>/<name>`. */
export function finalizerName(resource: Resource, controller: string): string {
  // Finalizers need a domain, and the groups of built-in kinds do not belong to us.
  const group = resource.group.includes(".") && !resource.group.endsWith(".k8s.io") ? resource.group : "binnacle.dev";
  return `${group}/${controller}`;
}

/** Whether the object carries one of the finalizers. */
export function hasFinalizer(object: AnyObject, names: readonly string[]): boolean {
  const { finalizers } = object.metadata;
  return finalizers !== undefined && finalizers.some((finalizer) => names.includes(finalizer));
}

/** Adds the finalizer. @returns false when the object is gone or being deleted, because none may be added then. */
export function addFinalizer(run: ObjectRunState, name: string): Promise<boolean> {
  return change(run, (object) => {
    if (object.metadata.deletionTimestamp !== undefined) return "refused";
    const finalizers = object.metadata.finalizers ?? [];
    if (finalizers.includes(name)) return [];
    if (finalizers.length > 0) return [{ op: "add", path: "/metadata/finalizers/-", value: name }];
    // Adding a list would overwrite one that somebody else adds at the same time, so the patch tests that there is none
    // (null).
    return [
      { op: "test", path: "/metadata/finalizers", value: null },
      { op: "add", path: "/metadata/finalizers", value: [name] },
    ];
  });
}

/** Removes the finalizers, the controller's own and those of its earlier names. */
export function removeFinalizers(run: ObjectRunState, names: readonly string[]): Promise<boolean> {
  return change(run, (object) => {
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
      return true;
    } catch (error) {
      if (isNotFound(error)) return false;
      // A failed test is reported as 422: the object has changed since it was read.
      if (!isApiError(error) || error.code !== 422 || attempt === ATTEMPTS) throw error;
      object = await core.reader.findLive(resource, run.object.metadata);
    }
  }
  return false;
}
