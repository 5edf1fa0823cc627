/** Objects as the fields that server-side apply tells apart, and the fields that a manager holds. */
import { isMap, type Json, type JsonMap } from "./json.ts";
import { type ListKey, type Shape, shapeUnder, WHOLE } from "./schema.ts";

/** A step into a value: a field, an item of a keyed list, or a member of a set. */
export type Step =
  { readonly field: string } | { readonly item: JsonMap; readonly id: string } | { readonly member: Json };

export interface Leaf {
  readonly steps: readonly Step[];
  readonly value: Json;
  /** The leaf is one of the fields that tell an item of a keyed list from the others. */
  readonly isKey: boolean;
}

/** The leaves of an object by path, and the order of the items of its keyed lists. */
export interface Leaves {
  readonly all: Map<string, Leaf>;
  readonly orders: Map<string, string[]>;
}

export function leavesOf(object: JsonMap, shape: Shape): Leaves {
  const leaves: Leaves = { all: new Map(), orders: new Map() };
  collect(object, shape, { path: "", steps: [], isKey: false }, leaves);
  return leaves;
}

interface At {
  readonly path: string;
  readonly steps: readonly Step[];
  readonly isKey: boolean;
}

function collect(value: Json | undefined, shape: Shape, at: At, leaves: Leaves): void {
  if (value === undefined || value === null) return;
  const isEmpty = Array.isArray(value) ? value.length === 0 : isMap(value) && Object.keys(value).length === 0;
  if (isMap(value) && !isEmpty && (shape.type === "map" || shape.type === "unknown")) {
    for (const [field, inner] of Object.entries(value))
      collect(inner, shapeUnder(shape, field), under(at, { field }), leaves);
  } else if (Array.isArray(value) && !isEmpty && shape.type === "keyed" && value.every(isMap)) {
    const order: string[] = [];
    for (const item of value) {
      const keys = keysOf(item, shape.keys);
      let id = idOf(keys);
      while (order.includes(id)) id += "'"; // a duplicate, which the server lets through in an update
      order.push(id);
      const inside = under(at, { item: keys, id });
      for (const [field, inner] of Object.entries(item)) {
        const isKey = shape.keys.some(({ name }) => name === field);
        collect(inner, shapeUnder(shape.item, field), { ...under(inside, { field }), isKey }, leaves);
      }
    }
    leaves.orders.set(at.path, order);
  } else if (Array.isArray(value) && !isEmpty && shape.type === "set") {
    for (const member of value) {
      const inside = under(at, { member });
      leaves.all.set(inside.path, { steps: inside.steps, value: member, isKey: false });
    }
  } else {
    leaves.all.set(at.path, { steps: at.steps, value, isKey: at.isKey });
  }
}

function under({ path, steps }: At, step: Step): At {
  return { path: `${path}/${textOf(step)}`, steps: [...steps, step], isKey: false };
}

function textOf(step: Step): string {
  if ("field" in step) return step.field.replaceAll("~", "~0").replaceAll("/", "~1");
  return "item" in step ? step.id : `[=${String(step.member).replaceAll("/", "~1")}]`;
}

function keysOf(item: JsonMap, keys: readonly ListKey[]): JsonMap {
  const parts: JsonMap = {};
  for (const { name, default: usual } of keys) {
    const value = item[name] ?? usual;
    if (value !== undefined) parts[name] = value;
  }
  return parts;
}

function idOf(keys: JsonMap): string {
  const parts = Object.keys(keys)
    .toSorted()
    .map((name) => `${name}=${String(keys[name]).replaceAll("/", "~1")}`);
  return `[${parts.join(",")}]`;
}

/** Whether one of two paths leads into the other, or both are the same. */
export function overlap(a: string, b: string): boolean {
  return a === b || a.startsWith(`${b}/`) || b.startsWith(`${a}/`);
}

/** Whether any of the paths is the given one or leads below it. */
export function anyBelow(paths: Iterable<string>, path: string): boolean {
  for (const one of paths) if (one === path || one.startsWith(`${path}/`)) return true;
  return false;
}

export interface Holder {
  readonly manager: string;
  readonly operation: string;
  readonly paths: ReadonlySet<string>;
}

/** Who holds which fields, by `metadata.managedFields`. */
export function holdersOf(object: JsonMap): Holder[] {
  const entries = (object["metadata"] as JsonMap)["managedFields"];
  if (!Array.isArray(entries)) return [];
  return entries.filter(isMap).flatMap((entry) => {
    if (!isMap(entry["fieldsV1"])) return [];
    const paths = new Set<string>();
    collectHeld(entry["fieldsV1"], "", paths);
    return [{ manager: String(entry["manager"]), operation: String(entry["operation"]), paths }];
  });
}

function collectHeld(fields: JsonMap, path: string, paths: Set<string>): void {
  for (const [name, inner] of Object.entries(fields)) {
    if (name === ".") {
      paths.add(`${path}/.`);
      continue;
    }
    const colon = name.indexOf(":");
    const rest = name.slice(colon + 1);
    let step: Step;
    if (name.startsWith("k:")) {
      const item = JSON.parse(rest) as JsonMap;
      step = { item, id: idOf(item) };
    } else {
      step = name.startsWith("v:") ? { member: JSON.parse(rest) as Json } : { field: rest };
    }
    const at = `${path}/${textOf(step)}`;
    if (!isMap(inner) || Object.keys(inner).length === 0) paths.add(at);
    else collectHeld(inner, at, paths);
  }
}

/** Whether a holder holds the field, or something that keeps it there: an item's key stays as long as anything of the item. */
export function holds(holder: Holder, path: string, leaf: Leaf | undefined): boolean {
  if (holder.paths.has(path)) return true;
  if (leaf?.isKey === true) {
    const item = path.slice(0, path.lastIndexOf("/"));
    return anyBelow(holder.paths, item);
  }
  return anyBelow(holder.paths, path);
}

/** The value that the steps lead to. */
export function valueAt(object: Json | undefined, steps: readonly Step[]): Json | undefined {
  let at: Json | undefined = object;
  for (const step of steps) {
    if ("field" in step) at = isMap(at) ? at[step.field] : undefined;
    else if ("item" in step) at = Array.isArray(at) ? at.find((one) => isItem(one, step.item)) : undefined;
    else at = Array.isArray(at) && at.includes(step.member) ? step.member : undefined;
  }
  return at;
}

function isItem(value: Json, keys: JsonMap): boolean {
  // A key that is left out has its default, and the others tell which item it is.
  return isMap(value) && Object.entries(keys).every(([name, key]) => (value[name] ?? key) === key);
}

/** Puts a value where the steps lead to, and makes what is missing on the way. */
export function put(object: JsonMap, steps: readonly Step[], value: Json): void {
  let at: Json = object;
  for (const [index, step] of steps.entries()) {
    const next = steps[index + 1];
    const made = (): Json => (next === undefined ? structuredClone(value) : "field" in next ? {} : []);
    if ("field" in step) {
      if (!isMap(at)) return;
      const has: Json | undefined = at[step.field];
      const fits =
        next !== undefined && (("field" in next && isMap(has)) || (!("field" in next) && Array.isArray(has)));
      if (!fits) at[step.field] = made();
      at = at[step.field]!;
    } else if ("item" in step) {
      if (!Array.isArray(at)) return;
      let item: Json | undefined = at.find((one) => isItem(one, step.item));
      if (next === undefined) {
        const place = item === undefined ? at.length : at.indexOf(item);
        at[place] = structuredClone(value);
        return;
      }
      if (item === undefined) at.push((item = { ...step.item }));
      at = item;
    } else {
      if (Array.isArray(at) && !at.includes(value)) at.push(value);
      return;
    }
  }
}

/** Takes away what the steps lead to. */
export function take(object: JsonMap, steps: readonly Step[]): void {
  const last = steps.at(-1);
  const parent = valueAt(object, steps.slice(0, -1));
  if (last === undefined || parent === undefined) return;
  if ("field" in last) {
    if (isMap(parent)) delete parent[last.field];
  } else if (Array.isArray(parent)) {
    const at = parent.findIndex((one) => ("item" in last ? isItem(one, last.item) : one === last.member));
    if (at >= 0) parent.splice(at, 1);
  }
}

/** The shape at the end of the steps. */
export function shapeAt(shape: Shape, steps: readonly Step[]): Shape {
  let at = shape;
  for (const step of steps) {
    if ("field" in step) at = shapeUnder(at, step.field);
    else at = "item" in step && at.type === "keyed" ? at.item : WHOLE;
  }
  return at;
}
