/** Turns a merge patch into a JSON patch that neither fails because of unrelated changes nor overwrites them. */
import type { JsonPatchOperation } from "./client.ts";
import { isFields } from "../resource/json.ts";
import { ownField } from "../resource/any-key.ts";

/**
 * @param live the value that the patch was made from. The operations fail if a list of it has changed since, or if a field
 * exists now that did not exist then.
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
