/** Merges and orders the lists of strategic merge patches: by a key, or as sets. */
import { goJson } from "../field-error.ts";
import { directive, type Fields, goTypeOf, identity, noMergeKey, unfit } from "./strategic-values.ts";

export interface MergedList {
  /** The merge key; `""` for lists of scalars. */
  readonly mergeKey: string;
  /** The Go type of the items. */
  readonly struct: string;
  /** Merges one item into another. */
  readonly merge: (original: Fields, patch: Fields) => Fields;
}

export function deleteFromPrimitives(current: readonly unknown[], gone: readonly unknown[]): unknown[] {
  const removed = new Set(gone);
  return current.filter((item) => !removed.has(item));
}

export function mergeSlices(original: unknown[], patch: unknown[], list: MergedList): unknown[] {
  if (original.length === 0 && patch.length === 0) return original;
  if (!sameKind(original, patch)) {
    const merged = [...new Set([...original, ...patch])];
    const parts = partition(merged, patch, "");
    return inOrder(parts, { order: patch, serverOrder: original, mergeKey: "" });
  }
  const { mergeKey } = list;
  if (mergeKey === "") throw unfit(`cannot merge lists without merge key for ${list.struct}`);
  const special = applyDirectives(original as Fields[], patch as Fields[], mergeKey);
  const merged = mergeItems(special.original, special.patch, list);
  const parts = partition(merged, special.patch, mergeKey);
  return inOrder(parts, { order: special.patch, serverOrder: special.original, mergeKey });
}

/** Whether the lists hold maps. @throws when they hold different types, or lists */
export function sameKind(...lists: readonly (readonly unknown[])[]): boolean {
  const types = new Set(lists.flatMap((list) => list.map(goTypeOf)));
  if (types.size === 0) throw unfit("no elements in any of the given slices");
  if (types.size > 1) throw unfit(`list element types are not identical: [${lists.map(goJson).join(" ")}]`);
  if (types.has("[]interface {}")) throw unfit("lists of lists are not supported");
  return types.has("map[string]interface {}");
}

/** Applies the `$patch` directives of items, and removes these items from the patch. */
function applyDirectives(
  original: Fields[],
  patch: Fields[],
  mergeKey: string,
): { original: Fields[]; patch: Fields[] } {
  const rest: Fields[] = [];
  let left = original;
  let replace = false;
  for (const item of patch) {
    if (!Object.hasOwn(item, directive)) {
      rest.push(item);
      continue;
    }
    const what = item[directive];
    if (what === "replace") replace = true;
    else if (what === "delete") {
      if (!Object.hasOwn(item, mergeKey)) throw noMergeKey(item, mergeKey);
      left = left.filter((other) => identity(other, mergeKey) !== item[mergeKey]);
    } else if (what === "merge") throw unfit("merging lists cannot yet be specified in the patch");
    else throw unfit(`unknown patch type: ${goJson(what)} in map: ${goJson(item)}`);
  }
  return replace ? { original: rest, patch: [] } : { original: left, patch: rest };
}

function mergeItems(original: readonly Fields[], patch: readonly Fields[], { mergeKey, merge }: MergedList): Fields[] {
  const merged = [...original];
  for (const item of patch) {
    if (!Object.hasOwn(item, mergeKey)) throw noMergeKey(item, mergeKey);
    const index = merged.findIndex((other) => identity(other, mergeKey) === item[mergeKey]);
    if (index < 0) merged.push(item);
    else merged[index] = merge(merged[index]!, { ...item });
  }
  return merged;
}

interface Parts {
  /** Items that the patch names. */
  readonly named: unknown[];
  readonly others: unknown[];
}

export function partition(merged: readonly unknown[], by: readonly unknown[], mergeKey: string): Parts {
  const keys = new Set(by.map((item) => identity(item, mergeKey)));
  const parts: Parts = { named: [], others: [] };
  for (const item of merged) (keys.has(identity(item, mergeKey)) ? parts.named : parts.others).push(item);
  return parts;
}

interface Order {
  readonly order: readonly unknown[];
  readonly serverOrder: readonly unknown[];
  readonly mergeKey: string;
}

/** Keeps the patch's items in their order, and puts the others between them in the server's order if there is one. */
export function inOrder({ named, others }: Parts, { order, serverOrder, mergeKey }: Order): unknown[] {
  const rank = (list: readonly unknown[]): Map<unknown, number> => {
    const ranks = new Map<unknown, number>();
    for (const [index, item] of list.entries()) {
      const key = identity(item, mergeKey);
      if (!ranks.has(key)) ranks.set(key, index);
    }
    return ranks;
  };
  const [wanted, served] = [rank(order), rank(serverOrder)];
  const keyOf = (item: unknown): unknown => identity(item, mergeKey);
  const sorted = (items: unknown[], ranks: Map<unknown, number>): unknown[] =>
    items.toSorted((a, b) => (ranks.get(keyOf(a)) ?? -1) - (ranks.get(keyOf(b)) ?? -1));
  const [left, right] = [sorted(others, served), sorted(named, wanted)];
  const result: unknown[] = [];
  let [i, j] = [0, 0];
  while (i < left.length || j < right.length) {
    if (i >= left.length) result.push(right[j++]);
    else if (j >= right.length) result.push(left[i++]);
    else {
      const [a, b] = [served.get(keyOf(left[i])), served.get(keyOf(right[j]))];
      result.push(a !== undefined && b !== undefined && a < b ? left[i++] : right[j++]);
    }
  }
  return result;
}
