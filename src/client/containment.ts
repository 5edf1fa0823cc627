/**
 * Decides by value whether the desired fields are present.
 *
 * Ownership decides only what values cannot tell: whether others may have items in a list, and whether a map without
 * fields of ours belongs to one manager as a whole. It is never a reason to overlook a value that differs.
 */
import { ownField } from "../resource/any-key.ts";
import { type Fields, isFields, sameJson } from "../resource/json.ts";
import type { FieldsV1 } from "../resource/meta.ts";
import { identityOf, isEmpty, isLeaf, matches, pathOf } from "./managed-fields.ts";
import { isSpelling } from "./spelling.ts";

export class Containment {
  readonly #isBuiltIn: boolean;
  readonly #path: string[];

  /**
   * @param isBuiltIn whether the server may write values in another form
   * @param path the path of the compared value
   */
  constructor(isBuiltIn: boolean, path: readonly string[] = []) {
    this.#isBuiltIn = isBuiltIn;
    this.#path = [...path];
  }

  /**
   * Whether the live value has every desired field; `fields` are its fields that we own. False means "write to be
   * sure".
   */
  has(desired: unknown, live: unknown, fields: FieldsV1 | undefined): boolean {
    if (desired === live || desired === undefined) return true;
    if (desired === null) return live === undefined;
    if (Array.isArray(desired)) return Array.isArray(live) && this.#hasItems(desired, live, fields);
    if (isFields(desired)) return isFields(live) && this.#hasFields(desired, live, fields);
    return this.#isBuiltIn && isSpelling(live, desired, this.#path);
  }

  #hasFields(desired: Fields, live: Fields, fields: FieldsV1 | undefined): boolean {
    if (fields === undefined || isEmpty(desired)) return sameJson(desired, live);
    const isWhole = isLeaf(fields);
    const path = this.#path;
    for (const name in desired) {
      const value = desired[name];
      if (value === undefined) continue;
      path.push(name);
      const isThere = this.has(value, ownField(live, name), isWhole ? fields : fields[pathOf(name)]);
      path.pop();
      if (!isThere) return false;
    }
    return true;
  }

  #hasItems(desired: readonly unknown[], live: readonly unknown[], fields: FieldsV1 | undefined): boolean {
    if (fields === undefined) return sameJson(desired, live);
    if (isLeaf(fields)) {
      // Admission adds tolerations to pods; if anybody else had added some, we would not own the list.
      if (this.#isBuiltIn && this.#path.join(".") === "spec.tolerations") return this.#hasAmong(desired, live, fields);
      return desired.length === live.length && desired.every((item, index) => this.has(item, live[index], fields));
    }
    let last = -1;
    for (const item of desired) {
      const { index, element } = itemOf(item, live, fields);
      if (index <= last) return false; // also -1; the items are in the order in which they were given
      last = index;
      if (!this.has(item, live[index], element === undefined ? undefined : fields[element])) return false;
    }
    return !ownsOther(fields, desired);
  }

  /** Whether the desired items are among the live ones, in this order. */
  #hasAmong(desired: readonly unknown[], live: readonly unknown[], fields: FieldsV1): boolean {
    let count = 0;
    for (const item of live) if (count < desired.length && this.has(desired[count], item, fields)) count++;
    return count === desired.length;
  }
}

/** Fields that identify the items of a list in built-in kinds. */
const KEYS = ["name", "containerPort", "port", "mountPath", "devicePath", "ip", "topologyKey", "type", "uid"];

/** Whether a list of a built-in kind, which is held as a whole, is replaced as a whole by an apply. */
export function isAtomic(list: readonly unknown[]): boolean {
  return !list.some((item) => isFields(item) && KEYS.some((key) => item[key] !== undefined));
}

/**
 * Whether we own an undesired item of a set. The field names that a child carries cannot tell, because sets have none.
 */
function ownsOther(fields: FieldsV1, desired: readonly unknown[]): boolean {
  for (const name in fields) if (name.startsWith("v:") && !desired.includes(identityOf(name))) return true;
  return false;
}

/** Finds an item in a live list that is merged by item: its index or -1, and the path element by which we own it. */
export function itemOf(
  item: unknown,
  live: readonly unknown[],
  fields: FieldsV1,
): { readonly index: number; readonly element: string | undefined } {
  const element = elementOf(item, fields);
  let identity: unknown;
  if (element !== undefined) {
    identity = identityOf(element);
  } else {
    const keys = keysOf(fields);
    if (keys === undefined) return { index: live.indexOf(item), element };
    if (!isFields(item) || keys.some((key) => item[key] === undefined)) return { index: -1, element };
    identity = Object.fromEntries(keys.map((key) => [key, item[key]]));
  }
  const index = isFields(identity) ? live.findIndex((other) => matches(other, identity)) : live.indexOf(identity);
  return { index, element };
}

/** The path element that names the item. */
function elementOf(item: unknown, fields: FieldsV1): string | undefined {
  for (const name in fields) {
    if (name === ".") continue;
    const identity = identityOf(name);
    if (name.startsWith("v:") ? identity === item : matches(item, identity, "when given")) return name;
  }
  return undefined;
}

/** The keys of a list of maps; `undefined` for a set. */
function keysOf(fields: FieldsV1): readonly string[] | undefined {
  for (const name in fields) if (name.startsWith("k:")) return Object.keys(identityOf(name) as object);
  return undefined;
}

/**
 * The part of a live value that is compared: the desired fields of a map; all of a list, and all of a map that is
 * desired empty.
 */
export function projected(desired: unknown, live: unknown): unknown {
  if (!isFields(desired) || !isFields(live) || isEmpty(desired)) return live;
  const part = Object.create(null) as Record<string, unknown>;
  for (const name in desired) {
    if (desired[name] !== undefined) part[name] = projected(desired[name], ownField(live, name));
  }
  return part;
}
