/**
 * Finds flaws of an object from the server, so that a malformed object affects only itself and not its list or watch.
 */
import { isFields } from "../../resource/json.ts";

const TEXTS = ["namespace", "uid", "resourceVersion", "generateName", "deletionTimestamp"] as const;
const MAPS = ["labels", "annotations"] as const;

/**
 * @param isVersioned whether the object needs a version, without which its states cannot be ordered.
 * @returns a text such as `metadata.labels is a list`; undefined when its metadata has the form on which the program
 * relies.
 */
export function flawOf(object: unknown, isVersioned: boolean): string | undefined {
  if (!isFields(object)) return `it is ${nameOf(object)}`;
  const metadata = object["metadata"];
  if (!isFields(metadata)) return `metadata is ${nameOf(metadata)}`;
  const { name, resourceVersion, ownerReferences, managedFields, finalizers } = metadata;
  if (typeof name !== "string" || name === "") return `metadata.name is ${name === "" ? "empty" : nameOf(name)}`;
  for (const field of TEXTS) {
    const value = metadata[field];
    if (value !== undefined && typeof value !== "string") return `metadata.${field} is ${nameOf(value)}`;
  }
  for (const field of MAPS) {
    const value = metadata[field];
    if (value !== undefined && !isFields(value)) return `metadata.${field} is ${nameOf(value)}`;
  }
  return (
    (ownerReferences !== undefined && flawOfList("ownerReferences", ownerReferences, isFields)) ||
    (managedFields !== undefined && flawOfList("managedFields", managedFields, isFields)) ||
    (finalizers !== undefined && flawOfList("finalizers", finalizers, isText)) ||
    (isVersioned && !resourceVersion && flawOfVersion(resourceVersion)) ||
    undefined
  );
}

/** Like {@link flawOf}, for the object of a bookmark, which has hardly more than a version. */
export function flawOfBookmark(object: unknown): string | undefined {
  const metadata = isFields(object) ? object["metadata"] : undefined;
  if (!isFields(metadata)) return `metadata is ${nameOf(metadata)}`;
  const { resourceVersion, annotations } = metadata;
  if (typeof resourceVersion !== "string" || resourceVersion === "") return flawOfVersion(resourceVersion);
  if (annotations !== undefined && !isFields(annotations)) return `metadata.annotations is ${nameOf(annotations)}`;
  return undefined;
}

function flawOfVersion(version: unknown): string {
  return `metadata.resourceVersion is ${version === "" ? "empty" : nameOf(version)}`;
}

function flawOfList(field: string, value: unknown, isElement: (element: unknown) => boolean): string | undefined {
  if (!Array.isArray(value)) return `metadata.${field} is ${nameOf(value)}`;
  for (let index = 0; index < value.length; index++) {
    if (!isElement(value[index])) return `metadata.${field}[${index}] is ${nameOf(value[index])}`;
  }
  return undefined;
}

function isText(value: unknown): boolean {
  return typeof value === "string";
}

function nameOf(value: unknown): string {
  if (value === undefined) return "missing";
  if (value === null) return "null";
  return Array.isArray(value) ? "a list" : typeof value === "object" ? "an object" : `a ${typeof value}`;
}
