/** Functions on JSON values under an atom: the paths that they own, and the value that remains without some paths. */
import { type Atom, type ListAtom, type MapAtom, shapeOf } from "./atom.ts";
import { FieldSet } from "./field-set.ts";
import { itemElement } from "./list-item.ts";
import { fieldElement } from "./path-element.ts";
import { isFloat, isNumber } from "../numbers.ts";
import { setField } from "../schema/set-field.ts";

export type JsonMap = Readonly<Record<string, unknown>>;

export function asMap(value: unknown): JsonMap | undefined {
  const isMap = typeof value === "object" && value !== null && !Array.isArray(value) && !isFloat(value);
  return isMap ? (value as JsonMap) : undefined;
}

export function asList(value: unknown): readonly unknown[] | undefined {
  return Array.isArray(value) ? value : undefined;
}

export function ownField(map: JsonMap | undefined, key: string): unknown {
  return map !== undefined && Object.hasOwn(map, key) ? map[key] : undefined;
}

/** Returns every leaf and item that the value names. */
export function fieldSetOf(value: unknown, atom: Atom): FieldSet {
  const set = new FieldSet();
  collect(value, { atom, set, path: [] });
  return set;
}

interface Place {
  readonly atom: Atom;
  readonly set: FieldSet;
  readonly path: readonly string[];
}

function collect(value: unknown, { atom, set, path }: Place): void {
  const shape = shapeOf(atom, value);
  if (shape === "scalar") set.insert(path);
  else if (shape === "list") collectItems(value, { list: atom.list!, set, path });
  else if (atom.map!.atomic) set.insert(path);
  else {
    for (const [key, field] of Object.entries(asMap(value) ?? {})) {
      const type = atom.map!.typeOf(key);
      const inner = [...path, fieldElement(key)];
      if (type) collect(field, { atom: type, set, path: inner });
      const hollow = field === null || (asMap(field) !== undefined && Object.keys(asMap(field)!).length === 0);
      if (hollow || !atom.map!.declares(key)) set.insert(inner);
    }
  }
}

interface ListPlace {
  readonly list: ListAtom;
  readonly set: FieldSet;
  readonly path: readonly string[];
}

function collectItems(value: unknown, { list, set, path }: ListPlace): void {
  if (!list.associative) return set.insert(path);
  const items = asList(value) ?? [];
  const elements = items.map((item) => itemElement(list, item));
  const seen = new Set<string>();
  const doubled = new Set<string>();
  for (const element of elements) {
    if (typeof element !== "string") continue;
    if (seen.has(element)) doubled.add(element);
    seen.add(element);
  }
  for (const [index, element] of elements.entries()) {
    if (typeof element !== "string") continue;
    const inner = [...path, element];
    if (!doubled.has(element)) collect(items[index], { atom: list.element, set, path: inner });
    set.insert(inner);
  }
}

/** Returns the value without the fields and items of a set; `null` when nothing remains. */
export function removeItems(value: unknown, items: FieldSet, atom: Atom): unknown {
  const shape = shapeOf(atom, value);
  if (shape === "scalar") return value;
  return shape === "list" ? removeFromList(value, items, atom.list!) : removeFromMap(value, items, atom.map!);
}

function removeFromList(value: unknown, items: FieldSet, list: ListAtom): unknown {
  const before = asList(value) ?? [];
  if (before.length === 0 || !list.associative) return null;
  const left: unknown[] = [];
  for (const item of before) {
    const element = itemElement(list, item);
    if (typeof element !== "string") {
      left.push(item);
      continue;
    }
    if (items.has(element)) continue;
    const within = items.within(element);
    left.push(within ? removeItems(item, within, list.element) : item);
  }
  return left.length > 0 ? left : null;
}

function removeFromMap(value: unknown, items: FieldSet, map: MapAtom): unknown {
  const before = asMap(value) ?? {};
  if (map.atomic) return null;
  const left: Record<string, unknown> = {};
  let any = false;
  for (const [key, field] of Object.entries(before)) {
    const element = fieldElement(key);
    if (items.has(element)) continue;
    const within = items.within(element);
    const type = map.typeOf(key);
    setField(left, key, within && type ? removeItems(field, within, type) : field);
    any = true;
  }
  return any ? left : null;
}

/** Whether two JSON values are equal; the order of fields does not count, and `1.0` is `1`. */
export function equalValues(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (isFloat(a) || isFloat(b)) return isNumber(a) && isNumber(b) && Number(a) === Number(b);
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
  if (Array.isArray(a) || Array.isArray(b)) {
    if (!Array.isArray(a) || !Array.isArray(b) || a.length !== b.length) return false;
    return a.every((item, index) => equalValues(item, b[index]));
  }
  const [left, right] = [a as JsonMap, b as JsonMap];
  const keys = Object.keys(left);
  if (keys.length !== Object.keys(right).length) return false;
  return keys.every((key) => Object.hasOwn(right, key) && equalValues(left[key], right[key]));
}
