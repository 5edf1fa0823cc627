/** Event filters for `on`: the changes of a member that cause a run. */
import { ownField } from "../resource/any-key.ts";
import type { AnyObject } from "../resource/handle.ts";

/** A change of an object, as `on` receives it. */
export interface Change<T> {
  readonly type: "create" | "update" | "delete" | "generic";
  readonly object: T;
  /** The state before, for an update. */
  readonly old?: T | undefined;
}

/** Whether a change causes a run. */
export type Predicate<in T> = (change: Change<T>) => boolean;

/** Passes everything that is not an update; an update passes when `differs` returns true. */
function onUpdate(differs: (object: AnyObject, old: AnyObject) => boolean): Predicate<AnyObject> {
  return ({ type, object, old }) => type !== "update" || (old !== undefined && differs(object, old));
}

function sameMap(a: Readonly<Record<string, string>> = {}, b: Readonly<Record<string, string>> = {}): boolean {
  const keys = Object.keys(a);
  return keys.length === Object.keys(b).length && keys.every((key) => Object.hasOwn(b, key) && a[key] === b[key]);
}

function at(object: unknown, path: readonly string[]): unknown {
  let value = object;
  for (const field of path) {
    if (typeof value !== "object" || value === null) return undefined;
    value = ownField(value as Record<string, unknown>, field);
  }
  return value;
}

function spec(object: AnyObject): unknown {
  return (object as { readonly spec?: unknown }).spec;
}

/** Filters on updates; creations, deletions and generic events always pass. */
export const changed: {
  /** `metadata.generation`: the server raises it with each change of the spec. */
  readonly generation: Predicate<AnyObject>;
  readonly labels: Predicate<AnyObject>;
  readonly annotations: Predicate<AnyObject>;
  /** Any field of the spec, also for kinds without a generation. */
  readonly spec: Predicate<AnyObject>;
  /** One field by its path, such as `spec.size`. */
  path(path: string): Predicate<AnyObject>;
} = Object.freeze({
  generation: onUpdate((object, old) => object.metadata.generation !== old.metadata.generation),
  labels: onUpdate((object, old) => !sameMap(object.metadata.labels, old.metadata.labels)),
  annotations: onUpdate((object, old) => !sameMap(object.metadata.annotations, old.metadata.annotations)),
  spec: onUpdate((object, old) => JSON.stringify(spec(object)) !== JSON.stringify(spec(old))),
  path(path: string): Predicate<AnyObject> {
    const fields = path.split(".");
    return onUpdate((object, old) => JSON.stringify(at(object, fields)) !== JSON.stringify(at(old, fields)));
  },
});

/** Every filter must pass; the first that does not stops. */
export function all<T>(...predicates: readonly Predicate<T>[]): Predicate<T> {
  return (change) => predicates.every((predicate) => predicate(change));
}

/** Passes when one of the filters passes. */
export function any<T>(...predicates: readonly Predicate<T>[]): Predicate<T> {
  return (change) => predicates.some((predicate) => predicate(change));
}

/** No filter may pass. */
export function none<T>(...predicates: readonly Predicate<T>[]): Predicate<T> {
  return (change) => !predicates.some((predicate) => predicate(change));
}
