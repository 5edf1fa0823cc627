/**
 * Adds and removes finalizers, so that neither a concurrent change nor another object of the same name is harmed.
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
  // Groups of built-in kinds are not ours to use, and finalizers need a domain.
  const group = resource.group.includes(".") && !resource.group.endsWith(".k8s.io") ? resource.group : "binnacle.dev";
  return `${group}/${controller}`;
}

/** Whether the object carries one of the finalizers. */
export function hasFinalizer(object: AnyObject, names: readonly string[]): boolean {
  const { finalizers } = object.metadata;
  return finalizers !== undefined && finalizers.some((finalizer) => names.includes(finalizer));
}

/** Adds the finalizer; false when the object is gone or being deleted, where none may be added. */
export function addFinalizer(run: ObjectRunState, name: string): Promise<boolean> {
  return change(run, (object) => {
    if (object.metadata.deletionTimestamp !== undefined) return "refused";
    const finalizers = object.metadata.finalizers ?? [];
    if (finalizers.includes(name)) return [];
    if (finalizers.length > 0) return [{ op: "add", path: "/metadata/finalizers/-", value: name }];
    // Adding the list would overwrite one that somebody else adds at the same time: as a value null says that there is none.
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
      operations.unshift({ op: "test", path, value: finalizer }, { op: "remove", path }); // the last first: indices stay
    });
    return operations;
  });
}

/** Patches until the patch fits the object as it is; false when it is gone or the change is refused. */
async function change(
  run: ObjectRunState,
  plan: (object: AnyObject) => readonly JsonPatchOperation[] | "refused",
): Promise<boolean> {
  const { core, resource } = run.environment;
  let object: AnyObject | undefined = run.latest();
  for (let attempt = 1; object !== undefined && object.metadata.uid === run.object.metadata.uid; attempt++) {
    const operations = plan(object);
    if (operations === "refused") return false;
    if (operations.length === 0) return true;
    try {
      run.object = await core.writer.patch(resource, object.metadata, guardedPatch(object, operations), run);
      return true;
    } catch (error) {
      if (isNotFound(error)) return false;
      // A failed test is 422: the object is not the one that was read.
      if (!isApiError(error) || error.code !== 422 || attempt === ATTEMPTS) throw error;
      object = await core.reader.findLive(resource, run.object.metadata);
    }
  }
  return false;
}
