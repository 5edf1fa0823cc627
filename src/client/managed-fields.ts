/**
 * Reads from `metadata.managedFields` which fields of an object a field manager owns.
 *
 * The tree of a `fieldsV1` tells the type of each list by itself: children `k:{…}` are the items of a map list, `v:…`
 * those of a set, and a leaf is a scalar or an atomic value. So no schema is needed to compare a desired object with
 * the live one.
 *
 * @see https://kubernetes.io/docs/reference/using-api/server-side-apply/#field-management
 */
import type { AnyObject } from "../resource/handle.ts";
import { type Fields, isFields, sameJson } from "../resource/json.ts";
import type { FieldsV1, ManagedFieldsEntry } from "../resource/meta.ts";
import { ownField, setField } from "../resource/any-key.ts";

/** The fields that `manager` has applied to the object or to a subresource; `undefined` when there are none. */
export function appliedFields(object: AnyObject, manager: string, subresource = ""): FieldsV1 | undefined {
  return entryOf(object, { manager, operation: "Apply", subresource })?.fieldsV1;
}

/** The first entry of a manager for an operation; entries of updates differ by the version of their object. */
export function entryOf(
  object: AnyObject,
  of: { readonly manager: string; readonly operation: "Apply" | "Update"; readonly subresource?: string },
): ManagedFieldsEntry | undefined {
  const entries = object.metadata.managedFields;
  if (entries === undefined) return undefined;
  const { manager, operation, subresource = "" } = of;
  for (const entry of entries) {
    if (entry.manager === manager && entry.operation === operation && (entry.subresource ?? "") === subresource) {
      return entry;
    }
  }
  return undefined;
}

/** All fields that `manager` owns of the object or of a subresource, by apply or by update. */
export function heldFields(object: AnyObject, manager: string, subresource = ""): FieldsV1 | undefined {
  let held: FieldsV1 | undefined;
  for (const entry of object.metadata.managedFields ?? []) {
    if (entry.manager !== manager || (entry.subresource ?? "") !== subresource || entry.fieldsV1 === undefined)
      continue;
    held = held === undefined ? entry.fieldsV1 : unite(held, entry.fieldsV1);
  }
  return held;
}

/** The union of two sets of fields. */
export function unite(a: FieldsV1, b: FieldsV1): FieldsV1 {
  const both: Record<string, FieldsV1> = { ...a };
  for (const name in b) {
    const part = both[name];
    both[name] = part === undefined ? b[name]! : unitePart(part, b[name]!);
  }
  return both;
}

/** Two sets that hold a value as a whole hold it together. */
function unitePart(a: FieldsV1, b: FieldsV1): FieldsV1 {
  const both = unite(a, b);
  return isLeaf(both) || (!isLeaf(a) && !isLeaf(b)) ? both : { ".": {}, ...both };
}

/** Path elements `f:<name>` by name: creating these strings anew is most of the cost of a comparison. */
const PATHS = new Map<string, string>();
const MOST_PATHS = 10_000;

export function pathOf(name: string): string {
  let path = PATHS.get(name);
  if (path === undefined) {
    if (PATHS.size === MOST_PATHS) PATHS.clear(); // the keys of data and labels are unbounded
    path = `f:${name}`;
    PATHS.set(name, path);
  }
  return path;
}

/** The identities of list items by their path elements, which are many times as slow to parse. */
const IDENTITIES = new Map<string, unknown>();

/** The keys of a list item, or the value of a set's, by its path element. */
export function identityOf(element: string): unknown {
  let identity = IDENTITIES.get(element);
  if (identity === undefined) {
    if (IDENTITIES.size === MOST_PATHS) IDENTITIES.clear();
    identity = JSON.parse(element.slice(2)) as unknown;
    IDENTITIES.set(element, identity);
  }
  return identity;
}

/**
 * Whether no part of the value is owned: it is a scalar, a value that is owned as a whole, or a map or list that is
 * owned without its parts.
 */
export function isLeaf(fields: FieldsV1): boolean {
  for (const name in fields) if (name !== ".") return false;
  return true;
}

/**
 * Whether applying `desired` again would change nothing, as far as values and owners show that without a schema.
 *
 * True only when every desired value is present and owned, and nothing else is owned. A value that the server wrote in
 * another spelling, or completed inside an atomic list, makes this false; so false means "apply to be sure".
 */
export function isApplied(desired: unknown, live: unknown, fields: FieldsV1): boolean {
  if (isLeaf(fields)) {
    if (isFields(desired) && isFields(live) && isEmpty(desired)) return true; // `emptyDir: {}`
    return sameJson(desired, live);
  }
  if (Array.isArray(desired)) return Array.isArray(live) && isAppliedList(desired, live, fields);
  return isFields(desired) && isFields(live) && isAppliedMap(desired, live, fields);
}

/** Whether a map has no fields; `undefined` ones do not count. */
export function isEmpty(fields: Fields): boolean {
  for (const name in fields) if (fields[name] !== undefined) return false;
  return true;
}

function isAppliedMap(desired: Fields, live: Fields, fields: FieldsV1): boolean {
  let count = 0;
  for (const name in desired) {
    const value = desired[name];
    if (value === undefined) continue;
    count++;
    const owned = fields[pathOf(name)];
    if (owned === undefined || !isApplied(value, live[name], owned)) return false;
  }
  // Every desired field is owned, so a larger count shows an owned field that is not desired.
  let owned = 0;
  for (const name in fields) if (name !== ".") owned++;
  return owned === count;
}

function isAppliedList(desired: readonly unknown[], live: readonly unknown[], fields: FieldsV1): boolean {
  let owned = 0;
  for (const name in fields) {
    if (name === ".") continue;
    owned++;
    const identity = identityOf(name);
    if (name.startsWith("v:")) {
      if (!desired.includes(identity) || !live.includes(identity)) return false;
    } else {
      const item = desired.find((candidate) => matches(candidate, identity, "when given"));
      const counterpart = live.find((candidate) => matches(candidate, identity));
      if (item === undefined || counterpart === undefined || !isApplied(item, counterpart, fields[name]!)) return false;
    }
  }
  return owned === desired.length;
}

/** Whether a list item has the keys of an identity; the server fills in defaults for keys that a desired item omits. */
export function matches(item: unknown, identity: unknown, keys: "all" | "when given" = "all"): boolean {
  if (!isFields(item) || !isFields(identity)) return false;
  for (const name in identity) {
    if (item[name] === undefined ? keys === "all" : item[name] !== identity[name]) return false;
  }
  return true;
}

/** Extracts the part of `live` that the fields name: the values that their manager has applied, as they are now. */
export function extract(live: unknown, fields: FieldsV1): unknown {
  if (isLeaf(fields)) return live;
  if (Array.isArray(live)) {
    return live.flatMap((item: unknown) => {
      for (const name in fields) {
        if (name === ".") continue;
        const identity = identityOf(name);
        if (name.startsWith("v:")) {
          if (item === identity) return [item];
        } else if (matches(item, identity)) {
          return [extract(item, fields[name]!)];
        }
      }
      return [];
    });
  }
  if (!isFields(live)) return undefined;
  const owned: Record<string, unknown> = {};
  for (const name in fields) {
    if (name === ".") continue;
    const field = name.slice(2);
    const value = extract(ownField(live, field), fields[name]!);
    if (value !== undefined) setField(owned, field, value);
  }
  return owned;
}
