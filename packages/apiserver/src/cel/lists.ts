/** Kubernetes' list and set functions for rules. */
import type { Environment } from "@marcbachmann/cel-js";

/**
 * Replaces a list item whose type differs from its schema's, so that an expression fails only when it reads the item.
 */
export class Unreadable {
  /** The mistake of the value, in the server's words. */
  readonly problem: string;

  constructor(problem: string) {
    this.problem = problem;
  }
}

type Comparable = bigint | number | string | boolean | Date;

class SetsNamespace {
  readonly name = "sets";
}

class ListsNamespace {
  readonly name = "lists";
}

export function registerLists(environment: Environment): void {
  environment
    .registerType("Unreadable", { ctor: Unreadable, fields: {} })
    .registerFunction("list.isSorted(): bool", (list: Comparable[]) =>
      list.every((item, index) => index === 0 || list[index - 1]! <= item),
    )
    .registerFunction("list.sum(): dyn", (list: (bigint | number)[]) => sum(list))
    .registerFunction("list.min(): dyn", (list: Comparable[]) => least(list, "min"))
    .registerFunction("list.max(): dyn", (list: Comparable[]) => greatest(list, "max"))
    .registerFunction("list.indexOf(dyn): int", (list: unknown[], item: unknown) =>
      BigInt(list.findIndex((other) => equalCel(other, item))),
    )
    .registerFunction("list.lastIndexOf(dyn): int", (list: unknown[], item: unknown) =>
      BigInt(list.findLastIndex((other) => equalCel(other, item))),
    )
    .registerFunction("list.distinct(): list", (list: unknown[]) =>
      list.filter((item, index) => list.findIndex((other) => equalCel(other, item)) === index),
    )
    .registerFunction("list.sort(): list", (list: Comparable[]) =>
      list.toSorted((one, other) => (one < other ? -1 : one > other ? 1 : 0)),
    )
    .registerFunction("list.reverse(): list", (list: unknown[]) => list.toReversed())
    .registerFunction("list.slice(int, int): list", slice)
    .registerFunction("list.flatten(): list", (list: unknown[]) => list.flat())
    .registerFunction("list.flatten(int): list", (list: unknown[], depth: bigint) => {
      if (depth < 0n) throw new Error("level must be non-negative");
      return list.flat(Number(depth));
    })
    .registerType("ListsNamespace", { ctor: ListsNamespace, fields: {} })
    .registerConstant("lists", "ListsNamespace", new ListsNamespace())
    .registerFunction("ListsNamespace.range(int): list<int>", (_: unknown, size: bigint) =>
      Array.from({ length: Math.max(0, Number(size)) }, (_item, index) => BigInt(index)),
    );
  environment
    .registerType("SetsNamespace", { ctor: SetsNamespace, fields: {} })
    .registerConstant("sets", "SetsNamespace", new SetsNamespace());
  const contains = (list: unknown[], item: unknown): boolean => list.some((other) => equalCel(other, item));
  environment
    .registerFunction("SetsNamespace.contains(list, list): bool", (_: unknown, list: unknown[], part: unknown[]) =>
      part.every((item) => contains(list, item)),
    )
    .registerFunction("SetsNamespace.intersects(list, list): bool", (_: unknown, a: unknown[], b: unknown[]) =>
      a.some((item) => contains(b, item)),
    )
    .registerFunction("SetsNamespace.equivalent(list, list): bool", (_: unknown, a: unknown[], b: unknown[]) =>
      [a.every((item) => contains(b, item)), b.every((item) => contains(a, item))].every(Boolean),
    );
}

function slice(list: readonly unknown[], start: bigint, end: bigint): unknown[] {
  const refused = (why: string): Error => new Error(`cannot slice(${start}, ${end}), ${why}`);
  if (start < 0n || end < 0n) throw refused("negative indexes not supported");
  if (start > end) throw refused("start index must be less than or equal to end index");
  if (end > list.length) throw refused(`list is length ${list.length}`);
  return list.slice(Number(start), Number(end));
}

/** Adds numbers of one type. @throws Error in cel-go's words for others, and for a sum beyond 64 bits */
function sum(list: readonly (bigint | number)[]): bigint | number {
  for (const item of list as readonly unknown[])
    if (item instanceof Unreadable) throw new Error("no such overload: sum(list)", { cause: item.problem });
  if (typeof list[0] === "number") return (list as number[]).reduce((total, item) => total + item, 0);
  return (list as bigint[]).reduce((total, item) => int64(total + item), 0n);
}

function int64(value: bigint): bigint {
  if (BigInt.asIntN(64, value) !== value) throw new Error("integer overflow");
  return value;
}

function least(list: readonly Comparable[], name: string): Comparable {
  if (list.length === 0) throw new Error(`${name} called on empty list`);
  return list.reduce((found, item) => (item < found ? item : found));
}

function greatest(list: readonly Comparable[], name: string): Comparable {
  if (list.length === 0) throw new Error(`${name} called on empty list`);
  return list.reduce((found, item) => (item > found ? item : found));
}

function equalCel(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a === "bigint" || typeof b === "bigint") return isNumber(a) && isNumber(b) && Number(a) === Number(b);
  if (a instanceof Date && b instanceof Date) return a.getTime() === b.getTime();
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
  if (Array.isArray(a) || Array.isArray(b)) {
    if (!Array.isArray(a) || !Array.isArray(b) || a.length !== b.length) return false;
    return a.every((item, index) => equalCel(item, b[index]));
  }
  const [left, right] = [a as Readonly<Record<string, unknown>>, b as Readonly<Record<string, unknown>>];
  const names = Object.keys(left);
  return (
    names.length === Object.keys(right).length &&
    names.every((name) => Object.hasOwn(right, name) && equalCel(left[name], right[name]))
  );
}

function isNumber(value: unknown): boolean {
  return typeof value === "bigint" || typeof value === "number";
}
