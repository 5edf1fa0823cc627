/** Merges one value over another under an atom: nothing is removed, and lists follow the order of the upper value. */
import { type Atom, type ListAtom, type MapAtom, shapeOf } from "./atom.ts";
import { itemElement } from "./list-item.ts";
import { asList, asMap, ownField } from "./typed-values.ts";
import { setField } from "../schema/set-field.ts";

/** Merges two values; `undefined` is an absent one. */
export function mergeTyped(left: unknown, right: unknown, atom: Atom): unknown {
  const shape = shapeOf(atom, right === undefined ? left : right);
  if (shape === "map") return mergeMaps(left, right, atom.map!);
  return shape === "list" ? mergeLists(left, right, atom.list!) : upper(left, right);
}

function upper(left: unknown, right: unknown): unknown {
  return right === undefined ? left : right;
}

function mergeMaps(left: unknown, right: unknown, map: MapAtom): unknown {
  const [below, above] = [asMap(left), asMap(right)];
  const nothing = Object.keys(below ?? {}).length === 0 && Object.keys(above ?? {}).length === 0;
  if (map.atomic || nothing) return upper(left, right);
  const merged: Record<string, unknown> = {};
  let any = false;
  for (const key of new Set([...Object.keys(below ?? {}), ...Object.keys(above ?? {})])) {
    const atom = map.typeOf(key);
    const [a, b] = [ownField(below, key), ownField(above, key)];
    const value = atom ? mergeTyped(a, b, atom) : upper(a, b);
    if (value === undefined) continue;
    setField(merged, key, value);
    any = true;
  }
  return any ? merged : undefined;
}

interface Indexed {
  readonly items: readonly unknown[];
  readonly elements: readonly string[];
  /** The items by their element; duplicate ones are `null`, because they are not merged. */
  readonly found: ReadonlyMap<string, unknown>;
}

function indexed(items: readonly unknown[], list: ListAtom): Indexed {
  const found = new Map<string, unknown>();
  const rest: unknown[] = [];
  const elements: string[] = [];
  for (const item of items) {
    const element = itemElement(list, item);
    if (typeof element !== "string") continue;
    found.set(element, found.has(element) ? null : item);
    elements.push(element);
    rest.push(item);
  }
  return { items: rest, elements, found };
}

function mergeLists(left: unknown, right: unknown, list: ListAtom): unknown {
  const [below, above] = [asList(left), asList(right)];
  if (!list.associative || (!below?.length && !above?.length)) return upper(left, right);
  const l = indexed(below ?? [], list);
  const r = indexed(above ?? [], list);
  const shared = r.elements.filter((element) => l.found.has(element));
  const merged: unknown[] = [];
  const done = new Set<string>();
  const take = (lower: unknown, higher: unknown): void => {
    const value = mergeTyped(lower, higher, list.element);
    if (value !== undefined) merged.push(value);
  };
  let next = shared.shift();
  for (let i = 0, j = 0; i < l.elements.length || j < r.elements.length;) {
    const [ours, theirs] = [l.elements[i], r.elements[j]];
    if (ours !== undefined && theirs !== undefined) {
      if (ours === theirs) {
        done.add(ours);
        take(l.found.get(ours), r.found.get(ours));
        i++;
        j++;
        next = shared.shift();
        continue;
      }
      // Both lists have the item, but another one comes first in the upper list.
      if (r.found.has(ours) && next !== undefined && next !== ours) {
        i++;
        continue;
      }
    }
    if (ours !== undefined) {
      if (!r.found.has(ours)) {
        take(l.items[i], undefined);
        i++;
        continue;
      }
      if (done.has(ours)) i++;
    }
    if (theirs !== undefined) {
      done.add(theirs);
      take(l.found.get(theirs), r.found.get(theirs));
      j++;
      if (next === theirs) next = shared.shift();
    }
  }
  return merged.length > 0 ? merged : undefined;
}
