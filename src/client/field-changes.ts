/**
 * Computes the changes by which an update brings about what a forced apply would.
 *
 * The owned fields show the types of lists and maps, so no schema is needed. Where they do not, only the server can merge,
 * and an apply is needed.
 */
import { sameJson } from "../resource/json.ts";
import type { FieldsV1 } from "../resource/meta.ts";
import { isLeaf, matches } from "./managed-fields.ts";
import { ownField } from "../resource/any-key.ts";

type Fields = Readonly<Record<string, unknown>>;

export interface FieldChanges {
  /** A JSON merge patch, in which lists are complete; `undefined` when nothing changes. */
  readonly patch: Fields | undefined;
  /** Whether a list has items of others: the patch is then valid only for the object that it was made from. */
  readonly mergesLists: boolean;
}

export interface Comparison {
  readonly desired: Fields;
  readonly live: Fields;
  /** The fields of `live` that the manager owns. */
  readonly fields: FieldsV1 | undefined;
  /** Whether a field may be added at a path; the server would drop a field that its schema does not have. */
  readonly mayAdd: (path: readonly string[]) => boolean;
  /** The server leaves out values that mean nothing: where one is desired and nothing is there, nothing is to be changed. */
  readonly dropsNothing?: boolean;
  /** The same fields were desired before: what more there is in a value that is held as a whole, the server added. */
  readonly isSameShape?: boolean;
}

/**
 * Computes the changes from `live` to `desired`. They do not remove what is owned and no longer desired: see
 * {@link holdsMore}.
 *
 * @returns `undefined` when an apply is needed.
 */
export function changesOf({ desired, live, fields, ...how }: Comparison): FieldChanges | undefined {
  const search = new ChangeSearch(how);
  const patch = search.ofMap(desired, { live, fields: fields ?? GRANULAR, path: [] });
  return search.isUnknown ? undefined : { patch: patch as Fields | undefined, mergesLists: search.mergesLists };
}

/**
 * Whether all that is desired is held, or there all the same; more may be held. Where the server leaves out values that
 * mean nothing, such as an empty text or list, nobody holds those.
 */
export function isHeld({ desired, live, fields, dropsNothing }: HeldState): boolean {
  if (desired === undefined) return true;
  if (fields === undefined) {
    return live === undefined ? dropsNothing && isNothing(desired) : sameJson(desired, live);
  }
  if (isLeaf(fields)) return true;
  if (isFields(desired)) {
    const from = isFields(live) ? live : undefined;
    return Object.keys(desired).every((name) =>
      isHeld({ desired: desired[name], live: from?.[name], fields: fields[`f:${name}`], dropsNothing }),
    );
  }
  if (!Array.isArray(desired) || !Array.isArray(live)) return false;
  return desired.every((item) => {
    const element = isFields(item) ? fieldOf(item, fields) : undefined;
    if (element === undefined) return live.some((other) => sameJson(item, other));
    const identity: unknown = JSON.parse(element.slice(2));
    const found: unknown = live.find((other) => matches(other, identity));
    return isHeld({ desired: item, live: found, fields: fields[element], dropsNothing });
  });
}

interface HeldState {
  readonly desired: unknown;
  readonly live: unknown;
  readonly fields: FieldsV1 | undefined;
  readonly dropsNothing: boolean;
}

/** Whether all of a value is in another one, which may have more fields. */
function contains(whole: unknown, part: unknown): boolean {
  if (isFields(part) && isFields(whole)) {
    return Object.keys(part).every((name) => part[name] === undefined || contains(whole[name], part[name]));
  }
  if (!Array.isArray(part) || !Array.isArray(whole)) return sameJson(part, whole);
  return part.length === whole.length && part.every((item, index) => contains(whole[index], item));
}

function isNothing(value: unknown): boolean {
  if (typeof value === "object" && value !== null) return Object.values(value).every(isNothing);
  return !value;
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
  const identity: unknown = JSON.parse(element.slice(2));
  return element.startsWith("v:")
    ? desired.find((item) => item === identity)
    : desired.find((item) => matches(item, identity, "when given"));
}

/** Of a map or of the item of a list of which nothing is held: its members may be anybody's. */
const GRANULAR: FieldsV1 = Object.freeze({ ".": Object.freeze({}) });

interface At {
  readonly live: unknown;
  readonly fields: FieldsV1 | undefined;
  readonly path: readonly string[];
}

type SearchOptions = Pick<Comparison, "mayAdd" | "dropsNothing" | "isSameShape">;

/** Each method gives the change of a value: `undefined` for none. */
class ChangeSearch {
  isUnknown = false;
  mergesLists = false;
  readonly #mayAdd: Comparison["mayAdd"];
  readonly #dropsNothing: boolean;
  readonly #isSameShape: boolean;

  constructor({ mayAdd, dropsNothing = false, isSameShape = false }: SearchOptions) {
    this.#mayAdd = mayAdd;
    this.#dropsNothing = dropsNothing;
    this.#isSameShape = isSameShape;
  }

  ofMap(desired: Fields, { live, fields, path }: At): unknown {
    const patch = Object.create(null) as Record<string, unknown>; // keys of data may be any
    let isChanged = false;
    for (const name in desired) {
      const value = desired[name];
      const there = (live as Fields)[name];
      if (value === undefined || sameJson(value, there)) continue;
      const change = this.#ofValue(value, { live: there, fields: fields?.[`f:${name}`], path: [...path, name] });
      if (this.isUnknown) return undefined;
      if (change === undefined) continue;
      patch[name] = change;
      isChanged = true;
    }
    return isChanged ? patch : undefined;
  }

  /** Of a value that differs. */
  #ofValue(desired: unknown, at: At): unknown {
    const { live, fields, path } = at;
    // In a merge patch a null removes.
    if (hasNull(desired)) return this.#unknown();
    if (live === undefined) {
      if (this.#dropsNothing && isNothing(desired) && !isText(path)) return undefined;
      return this.#mayAdd(path) ? desired : this.#unknown();
    }
    if (this.#isSameShape && fields !== undefined && isWhole(fields) && contains(live, desired)) return undefined;
    if (isFields(desired) && isFields(live)) {
      if (isEmpty(desired)) return undefined;
      if (fields === undefined ? !isOpen(path) : isWhole(fields)) return this.#unknown();
      return this.ofMap(desired, at);
    }
    if (Array.isArray(desired) && Array.isArray(live)) {
      if (fields === undefined) return this.#unknown();
      if (isWhole(fields)) return desired;
      return this.#ofList(desired, { live, fields, path });
    }
    return desired;
  }

  #ofList(desired: readonly unknown[], { live, fields, path }: At & { readonly live: readonly unknown[] }): unknown {
    const element = Object.keys(fields!).find((name) => name !== ".");
    if (element === undefined) return this.#unknown();
    const keys = element.startsWith("v:") ? undefined : Object.keys(JSON.parse(element.slice(2)) as object);
    const merged = [...live];
    let last = -1;
    for (const item of desired) {
      const index = keys === undefined ? live.indexOf(item) : this.#indexOf(item, { keys, live, fields });
      if (index === undefined) return this.#unknown();
      if (index < 0) {
        if (!this.#mayAdd(path)) return this.#unknown();
        last = live.length; // new items come last
        merged.push(item);
      } else {
        if (index <= last) return this.#unknown(); // an apply would reorder the items
        last = index;
        if (keys === undefined) continue;
        const held = this.#heldOf(item, fields) ?? GRANULAR;
        if (!isFields(item) || isWhole(held)) {
          if (!sameJson(item, live[index])) return this.#unknown();
          continue;
        }
        const change = this.ofMap(item, { live: live[index], fields: held, path });
        if (this.isUnknown) return undefined;
        if (change !== undefined) merged[index] = mergedWith(live[index], change);
      }
    }
    if (sameJson(merged, live)) return undefined;
    this.mergesLists = true;
    return merged;
  }

  /** Where the item is; -1 when it is new, `undefined` when its keys do not tell. */
  #indexOf(
    item: unknown,
    { keys, live, fields }: { readonly keys: readonly string[]; readonly live: unknown; readonly fields: unknown },
  ): number | undefined {
    const held = fieldOf(item, fields as FieldsV1);
    let identity: unknown = held && JSON.parse(held.slice(2));
    if (identity === undefined) {
      if (!isFields(item) || keys.some((key) => item[key] === undefined)) return undefined;
      identity = Object.fromEntries(keys.map((key) => [key, item[key]]));
    }
    return (live as readonly unknown[]).findIndex((candidate) => matches(candidate, identity));
  }

  #heldOf(item: unknown, fields: FieldsV1 | undefined): FieldsV1 | undefined {
    const name = fieldOf(item, fields!);
    return name === undefined ? undefined : fields![name];
  }

  #unknown(): undefined {
    this.isUnknown = true;
    return undefined;
  }
}

/** The path element that names the item. */
function fieldOf(item: unknown, fields: FieldsV1): string | undefined {
  for (const name in fields) {
    if (name.startsWith("k:") && matches(item, JSON.parse(name.slice(2)), "when given")) return name;
  }
  return undefined;
}

/** A value that is held as a whole; also one that was empty when it was set. */
function isWhole(fields: FieldsV1): boolean {
  for (const _ in fields) return false;
  return true;
}

/** Of maps of texts an empty one is kept. */
function isText([top, next]: readonly string[]): boolean {
  return top === "data" || (top === "metadata" && (next === "labels" || next === "annotations"));
}

/** Maps that are known to be merged key by key, also where nothing of them is held. */
function isOpen(path: readonly string[]): boolean {
  return path.length === 2 && path[0] === "metadata" && (path[1] === "labels" || path[1] === "annotations");
}

function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isEmpty(fields: Fields): boolean {
  for (const name in fields) if (fields[name] !== undefined) return false;
  return true;
}

function hasNull(value: unknown): boolean {
  if (typeof value !== "object") return false;
  if (value === null) return true;
  for (const name in value) if (hasNull((value as Fields)[name])) return true;
  return false;
}
