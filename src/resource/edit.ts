/** Changing an object that is shared with others. */
import type { Draft } from "./meta.ts";

/**
 * A changed copy of an object; the object itself stays as it is.
 *
 * @example
 * const bigger = edit(deployment, (draft) => { draft.spec.replicas = 3; });
 */
export function edit<T extends object>(object: T, change: (draft: Draft<T>) => void): T {
  const draft = structuredClone(object);
  change(draft as Draft<T>);
  return draft;
}
