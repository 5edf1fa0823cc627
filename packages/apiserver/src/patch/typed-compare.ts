/** Compares two values under an atom. */
import { type Atom, type ListAtom, type MapAtom, shapeOf } from "./atom.ts";
import { FieldSet } from "./field-set.ts";
import { itemElement } from "./list-item.ts";
import { fieldElement } from "./path-element.ts";
import { asList, asMap, equalValues, ownField } from "./typed-values.ts";

export interface Comparison {
  readonly removed: FieldSet;
  readonly modified: FieldSet;
  readonly added: FieldSet;
}

export function compareTyped(left: unknown, right: unknown, atom: Atom): Comparison {
  const comparison: Comparison = { removed: new FieldSet(), modified: new FieldSet(), added: new FieldSet() };
  compare(left, right, { atom, comparison, path: [] });
  return comparison;
}

/** Removes the fields of `ignored` and everything inside them. */
export function exclude(comparison: Comparison, ignored: FieldSet | undefined): Comparison {
  if (!ignored || ignored.empty) return comparison;
  return {
    removed: comparison.removed.recursiveDifference(ignored),
    modified: comparison.modified.recursiveDifference(ignored),
    added: comparison.added.recursiveDifference(ignored),
  };
}

interface Place {
  readonly atom: Atom;
  readonly comparison: Comparison;
  readonly path: readonly string[];
}

/** Compares two values; `undefined` is an absent one. */
function compare(left: unknown, right: unknown, place: Place): void {
  // Most values have not changed, and are often the very same object.
  if (left === right) return;
  const { atom, comparison, path } = place;
  const leftShape = shapeOf(atom, left);
  const rightShape = shapeOf(atom, right);
  let leaf: boolean;
  if (right === undefined) leaf = compareAs(leftShape, { left, right, place });
  else if (left === undefined || leftShape === rightShape) leaf = compareAs(rightShape, { left, right, place });
  else {
    compareAs(leftShape, { left, right, place });
    leaf = compareAs(rightShape, { left, right, place });
  }
  if (leaf) return;
  if (left === undefined) comparison.added.insert(path);
  else if (right === undefined) comparison.removed.insert(path);
}

interface Pair {
  readonly left: unknown;
  readonly right: unknown;
  readonly place: Place;
}

/** Compares two values of this shape. @returns whether they were compared as a whole */
function compareAs(shape: "map" | "scalar" | "list", pair: Pair): boolean {
  const { left, right, place } = pair;
  if (shape === "map") {
    const map = place.atom.map!;
    if (map.atomic || (isEmpty(asMap(left)) && isEmpty(asMap(right)))) return compareLeaf(pair);
    compareFields(pair, map);
    return false;
  }
  if (shape === "list") {
    const list = place.atom.list!;
    if (!list.associative || (!asList(left)?.length && !asList(right)?.length)) return compareLeaf(pair);
    compareItems(pair, list);
    return false;
  }
  return compareLeaf(pair);
}

function isEmpty(map: object | undefined): boolean {
  if (map) for (const _ in map) return false;
  return true;
}

function compareLeaf({ left, right, place: { comparison, path } }: Pair): true {
  if (left === undefined) comparison.added.insert(path);
  else if (right === undefined) comparison.removed.insert(path);
  else if (!equalValues(left, right)) comparison.modified.insert(path);
  return true;
}

function compareFields({ left, right, place: { comparison, path } }: Pair, map: MapAtom): void {
  const before = asMap(left) ?? {};
  const after = asMap(right) ?? {};
  for (const key of new Set([...Object.keys(before), ...Object.keys(after)])) {
    const atom = map.typeOf(key);
    if (!atom) continue;
    const [a, b] = [ownField(before, key), ownField(after, key)];
    if (a !== b) compare(a, b, { atom, comparison, path: [...path, fieldElement(key)] });
  }
}

function compareItems({ left, right, place: { comparison, path } }: Pair, list: ListAtom): void {
  const before = itemsByElement(asList(left) ?? [], list);
  const after = itemsByElement(asList(right) ?? [], list);
  for (const element of new Set([...before.keys(), ...after.keys()])) {
    const [a, b] = [before.get(element) ?? [], after.get(element) ?? []];
    const inner = [...path, element];
    const place = { atom: list.element, comparison, path: inner };
    if (a.length <= 1 && b.length <= 1) compare(a[0], b[0], place);
    else if (a.length >= 2 && b.length >= 2) {
      // Duplicate items are owned together.
      if (!equalValues(a, b)) comparison.modified.insert(inner);
    } else if (a.length >= 2) {
      if (b.length > 0) compare(undefined, b[0], place);
      comparison.removed.insert(inner);
    } else {
      if (a.length > 0) compare(a[0], undefined, place);
      comparison.added.insert(inner);
    }
  }
}

function itemsByElement(items: readonly unknown[], list: ListAtom): Map<string, unknown[]> {
  const byKey = new Map<string, unknown[]>();
  for (const item of items) {
    const element = itemElement(list, item);
    if (typeof element !== "string") continue;
    const same = byKey.get(element);
    if (same) same.push(item);
    else byKey.set(element, [item]);
  }
  return byKey;
}
