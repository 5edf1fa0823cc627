/** A merge patch as a JSON patch, which other changes of the object do not stop and which overwrites none of them. */
import type { JsonPatchOperation } from "./client.ts";

type Fields = Readonly<Record<string, unknown>>;

/**
 * @param live what the patch was made from. The operations fail where a list of it has changed since, or where something
 * is by now that was not there.
 */
export function guardedOperations(path: string, live: unknown, patch: unknown): readonly JsonPatchOperation[] {
  if (isFields(patch) && isFields(live)) {
    return Object.keys(patch).flatMap((name) => {
      const pointer = name.replaceAll("~", "~0").replaceAll("/", "~1");
      return guardedOperations(`${path}/${pointer}`, live[name], patch[name]);
    });
  }
  const set: JsonPatchOperation = { op: "add", path, value: patch };
  // A scalar is set whatever it is by now.
  if (live !== undefined && !Array.isArray(live)) return [set];
  return [{ op: "test", path, value: live ?? null }, set];
}

function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
