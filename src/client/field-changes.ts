/**
 * Computes the changes by which an update has the same effect as a forced apply.
 *
 * The owned fields show the types of lists and maps, so no schema is needed. When they do not, only the server can
 * merge, and an apply is needed.
 */
import { ownField } from "../resource/any-key.ts";
import { type Fields, isFields, sameJson } from "../resource/json.ts";
import type { FieldsV1 } from "../resource/meta.ts";
import { Containment, isAtomic, itemOf } from "./containment.ts";
import { identityOf, isLeaf, matches } from "./managed-fields.ts";

export interface FieldChanges {
  /** A JSON merge patch, in which lists are complete; `undefined` when nothing changes. */
  readonly patch: Fields | undefined;
  /** Whether a list has items of others: the patch is then valid only for the object from which it was made. */
  readonly mergesLists: boolean;
}

export interface Comparison {
  readonly desired: Fields;
  readonly live: Fields;
  /** The fields of `live` that the manager owns. */
  readonly fields: FieldsV1 | undefined;
  /** Whether a field may be added at a path; the server would drop a field that its schema does not have. */
  readonly mayAdd: (path: readonly string[]) => boolean;
  /** Whether the server may write values in another form, and omit empty ones. */
  readonly isBuiltIn?: boolean;
}

/**
 * Computes the changes from `live` to `desired`. They do not remove owned fields that are no longer desired: see {@link
 * holdsMore}.
 *
 * @returns `undefined` when an apply is needed.
 */
export function changesOf({ desired, live, fields, ...how }: Comparison): FieldChanges | undefined {
  const search = new ChangeSearch(how);
  const patch = search.ofMap(desired, { live, fields: fields ?? GRANULAR, path: [] });
  return search.isUnknown ? undefined : { patch: patch as Fields | undefined, mergesLists: search.mergesLists };
}

/** Whether the manager owns something that is not desired. */
export function holdsMore(desired: unknown, fields: FieldsV1): boolean {
  if (isLeaf(fields)) return false; // all of the value
  for (const name in fields) {
    if (name === ".") continue;
    const part = partOf(desired, name);
    if (part === undefined || holdsMore(part, fields[name]!)) return true;
  }
  return false;
}

/** Selects the owned fields that are not desired; `undefined` when there are none. */
export function undesired(desired: unknown, fields: FieldsV1): FieldsV1 | undefined {
  const remainder: Record<string, FieldsV1> = {};
  for (const name in fields) {
    if (name === ".") continue;
    const part = partOf(desired, name);
    const rest = part === undefined ? fields[name] : undesired(part, fields[name]!);
    if (rest !== undefined) remainder[name] = rest;
  }
  return isLeaf(remainder) ? undefined : remainder;
}

/** Applies a merge patch without nulls to a copy. */
export function mergedWith(live: unknown, patch: unknown): unknown {
  if (!isFields(patch)) return patch;
  const merged = Object.assign(Object.create(null), isFields(live) ? live : undefined) as Record<string, unknown>;
  for (const name in patch) if (patch[name] !== undefined) merged[name] = mergedWith(merged[name], patch[name]);
  return merged;
}

/** The part of a desired value that a path element names. */
export function partOf(desired: unknown, element: string): unknown {
  if (element.startsWith("f:")) return isFields(desired) ? ownField(desired, element.slice(2)) : undefined;
  if (!Array.isArray(desired)) return undefined;
  const identity = identityOf(element);
  return element.startsWith("v:")
    ? desired.find((item) => item === identity)
    : desired.find((item) => matches(item, identity, "when given"));
}

/** The owned fields of a map or list item without fields of ours: its members may belong to anybody. */
const GRANULAR: FieldsV1 = Object.freeze({ ".": Object.freeze({}) });

interface At {
  readonly live: unknown;
  readonly fields: FieldsV1 | undefined;
  readonly path: readonly string[];
}

/** Searches for changes; each method returns the change of a value, `undefined` for none. */
class ChangeSearch {
  isUnknown = false;
  mergesLists = false;
  readonly #mayAdd: Comparison["mayAdd"];
  readonly #isBuiltIn: boolean;

  constructor({ mayAdd, isBuiltIn = false }: Pick<Comparison, "mayAdd" | "isBuiltIn">) {
    this.#mayAdd = mayAdd;
    this.#isBuiltIn = isBuiltIn;
  }

  ofMap(desired: Fields, { live, fields, path }: At): unknown {
    const patch = Object.create(null) as Record<string, unknown>; // keys of data may be any
    let isChanged = false;
    for (const name in desired) {
      const value = desired[name];
      const at: At = { live: ownField(live as Fields, name), fields: fields?.[`f:${name}`], path: [...path, name] };
      if (this.#isThere(value, at)) continue;
      const change = this.#ofValue(value, at);
      if (this.isUnknown) return undefined;
      if (change === undefined) continue;
      patch[name] = change;
      isChanged = true;
    }
    return isChanged ? patch : undefined;
  }

  #isThere(desired: unknown, { live, fields, path }: At): boolean {
    return new Containment(this.#isBuiltIn, path).has(desired, live, fields);
  }

  /** The change of a value that differs. */
  #ofValue(desired: unknown, at: At): unknown {
    const { live, fields, path } = at;
    // In a merge patch, null removes a field.
    if (hasNull(desired)) return this.#unknown();
    if (live === undefined) {
      // The field may exist in the kind, and the server may have left its value out.
      return this.#mayAdd(path) || (this.#isBuiltIn && isNothing(desired)) ? desired : this.#unknown();
    }
    if (isFields(desired) && isFields(live)) {
      if (fields === undefined ? !isOpen(path) : isWhole(fields)) return this.#unknown();
      return this.ofMap(desired, at);
    }
    if (Array.isArray(desired) && Array.isArray(live)) {
      if (fields === undefined) return this.#unknown();
      if (!isLeaf(fields)) return this.#ofList(desired, { live, fields, path });
      // A leaf may also be the remainder of a list whose items others have all taken over; the items are then theirs.
      return this.#isBuiltIn && isAtomic(live) && isAtomic(desired) ? desired : this.#unknown();
    }
    return typeof desired === "object" || typeof live === "object" ? this.#unknown() : desired;
  }

  #ofList(desired: readonly unknown[], { live, fields, path }: At & { readonly live: readonly unknown[] }): unknown {
    const merged = [...live];
    let last = -1;
    for (const item of desired) {
      const { index, element } = itemOf(item, live, fields!);
      if (index < 0) {
        if (!this.#mayAdd(path)) return this.#unknown();
        last = live.length; // new items come last
        merged.push(item);
        continue;
      }
      if (index <= last) return this.#unknown(); // an apply would reorder the items
      last = index;
      const at: At = { live: live[index], fields: element === undefined ? GRANULAR : fields![element], path };
      if (this.#isThere(item, at)) continue;
      if (!isFields(item) || !isFields(at.live) || isWhole(at.fields!)) return this.#unknown();
      const change = this.ofMap(item, at);
      if (this.isUnknown) return undefined;
      if (change !== undefined) merged[index] = mergedWith(live[index], change);
    }
    if (sameJson(merged, live)) return undefined;
    this.mergesLists = true;
    return merged;
  }

  #unknown(): undefined {
    this.isUnknown = true;
    return undefined;
  }
}

/** Whether a value is owned as a whole, for example because it was empty when it was set. */
function isWhole(fields: FieldsV1): boolean {
  for (const _ in fields) return false;
  return true;
}

/** Whether the server omits the value because its absence means the same. */
function isNothing(value: unknown): boolean {
  return typeof value === "object" && value !== null ? Object.keys(value).length === 0 : !value;
}

/** Whether a map is known to be merged key by key even if we own no part of it: labels and annotations. */
function isOpen(path: readonly string[]): boolean {
  return path.length === 2 && path[0] === "metadata" && (path[1] === "labels" || path[1] === "annotations");
}

function hasNull(value: unknown): boolean {
  if (typeof value !== "object") return false;
  if (value === null) return true;
  for (const name in value) if (hasNull((value as Fields)[name])) return true;
  return false;
}
