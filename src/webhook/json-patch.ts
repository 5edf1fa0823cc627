/** Computes the JSON patch from the API server's object to the author's result. */
import { createPatch, type Operation, type Pointer } from "rfc6902";
import { sameJson } from "../resource/json.ts";

/** One operation of RFC 6902. */
export type PatchOperation = Operation;

/** The largest product of two arrays' lengths for the library, whose time and depth grow with it. */
const MOST_CELLS = 10_000;

/** Two elements, one of which replaces the other. */
class Replaced {
  readonly before: unknown;
  readonly after: unknown;

  constructor(before: unknown, after: unknown) {
    this.before = before;
    this.after = after;
  }
}

/** Returns the operations from one value to the other. Fields that are `undefined` count as absent. */
export function patchBetween(before: unknown, after: unknown): readonly PatchOperation[] {
  const operations = createPatch(before, after, boundedDiff);
  for (const operation of operations) {
    // The value becomes null, as in a JSON array, because an operation without a value would be invalid.
    if ("value" in operation && operation.value === undefined) operation.value = null;
  }
  return operations;
}

/** Handles equal values, which is faster, and long arrays, which are compared by position or replaced. */
function boundedDiff(before: unknown, after: unknown, pointer: Pointer): Operation[] | undefined {
  if (sameJson(before, after)) return [];
  if (!Array.isArray(before) || !Array.isArray(after)) return undefined;
  if (before.length * after.length <= MOST_CELLS) return arrayDiff(before, after, pointer.toString());
  if (before.length !== after.length) return [{ op: "replace", path: pointer.toString(), value: after as unknown }];
  const operations: Operation[] = [];
  for (const [index, value] of (after as readonly unknown[]).entries()) {
    if (sameJson(before[index], value)) continue;
    operations.push({ op: "replace", path: pointer.add(String(index)).toString(), value });
  }
  return operations;
}

/**
 * The library compares each element with each one of the other array, and would compute the full difference of all
 * these pairs, which takes minutes for arrays in arrays. So it only learns whether two elements differ, and the
 * difference is computed for those that replace each other.
 */
function arrayDiff(before: readonly unknown[], after: readonly unknown[], path: string): Operation[] {
  const operations = createPatch(before, after, (one: unknown, other: unknown, pointer) => {
    const place = pointer.toString();
    if (place === "") return undefined; // the arrays themselves
    return sameJson(one, other) ? [] : [{ op: "replace", path: place, value: new Replaced(one, other) }];
  });
  return operations.flatMap((operation) => {
    const place = path + operation.path;
    if (operation.op !== "replace" || !(operation.value instanceof Replaced)) return [{ ...operation, path: place }];
    const inner = createPatch(operation.value.before, operation.value.after, boundedDiff);
    return inner.map((one) => ({ ...one, path: place + one.path }));
  });
}
