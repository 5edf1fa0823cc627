/** The bodies of writes and their content types. */
import type { Mapping } from "../kube/api/mapper.ts";
import { ownField } from "../resource/any-key.ts";
import type { AnyObject, Resource } from "../resource/handle.ts";
import { isFields } from "../resource/json.ts";
import type { Key } from "../resource/meta.ts";
import type { JsonPatchOperation, Patch } from "./client.ts";

export const PATCH_TYPES = {
  merge: "application/merge-patch+json",
  strategic: "application/strategic-merge-patch+json",
  json: "application/json-patch+json",
} as const;

// JSON is YAML, and this content type makes a patch an apply.
export const APPLY = "application/apply-patch+yaml";

/** An object to write; only its metadata is required. */
export interface Body {
  readonly metadata: {
    readonly name?: string | undefined;
    readonly generateName?: string | undefined;
    readonly namespace?: string | undefined;
  };
}

/**
 * Removes the managed fields of an update: the informers keep only our own, and the server would replace all by those,
 * so that other managers would lose theirs. When the request has none, the server keeps all.
 */
export function withoutManagedFields(object: AnyObject): AnyObject {
  if (object.metadata.managedFields === undefined) return object;
  return { ...object, metadata: { ...object.metadata, managedFields: undefined } };
}

export function identified(mapping: Mapping, object: object): object {
  return "kind" in object && "apiVersion" in object
    ? object
    : { apiVersion: mapping.apiVersion, kind: mapping.kind, ...object };
}

/**
 * Makes the body of a patch. A patch with a resource version is refused with 409 unless the object still has it.
 *
 * @throws TypeError when that version is empty.
 */
export function patchBody(patch: Patch, { kind }: Resource, { name }: Key): unknown {
  if (patch.type === "json" || !Object.hasOwn(patch, "resourceVersion")) return patch.body;
  const { resourceVersion } = patch;
  if (!resourceVersion) {
    throw new TypeError(
      `Cannot patch ${kind} '${name}': its \`resourceVersion\` is empty and would guard nothing; take it from an object that was read, or leave it out`,
    );
  }
  const { metadata } = patch.body as { readonly metadata?: object };
  return { ...patch.body, metadata: { ...metadata, resourceVersion } };
}

/** Makes a JSON patch that fails unless the object is still the one that was read. */
export function guardedPatch(object: AnyObject, operations: readonly JsonPatchOperation[]): Patch {
  return { type: "json", body: [{ op: "test", path: "/metadata/uid", value: object.metadata.uid }, ...operations] };
}

/**
 * Turns a merge patch into operations that neither fail because of unrelated changes nor overwrite them.
 *
 * @param live the value that the patch was made from. The operations fail if a list of it has changed since, or if a
 * field exists now that did not exist then.
 */
export function guardedOperations(path: string, live: unknown, patch: unknown): readonly JsonPatchOperation[] {
  if (isFields(patch) && isFields(live)) {
    return Object.keys(patch).flatMap((name) => {
      const pointer = name.replaceAll("~", "~0").replaceAll("/", "~1");
      return guardedOperations(`${path}/${pointer}`, ownField(live, name), patch[name]);
    });
  }
  const set: JsonPatchOperation = { op: "add", path, value: patch };
  // A scalar is set whatever its current value is.
  if (live !== undefined && !Array.isArray(live)) return [set];
  return [{ op: "test", path, value: live ?? null }, set];
}
