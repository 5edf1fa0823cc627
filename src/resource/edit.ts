/** Makes changed copies of objects that are shared and frozen. */
import type { Draft } from "./meta.ts";
import { setField } from "./any-key.ts";

/**
 * A changed copy of an object; the object itself, frozen or not, stays as it is.
 *
 * @throws TypeError when the function is async: its changes would come too late.
 * @example
 * const paused = edit(deployment, (draft) => { draft.spec.paused = true; });
 */
export function edit<T extends object>(object: T, change: (draft: Draft<T>) => void): T {
  const draft = copyOf(object);
  const returned: unknown = change(draft as Draft<T>);
  if (returned instanceof Promise) {
    returned.catch(() => undefined);
    throw new TypeError("Cannot edit: the function must not be async, read what you need before");
  }
  return draft;
}

/** Returns a deep copy of JSON data. */
export function copyOf<T>(value: T): T {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(copyOf) as T;
  const copy: Record<string, unknown> = {};
  for (const [key, item] of Object.entries(value)) setField(copy, key, copyOf(item));
  return copy as T;
}
