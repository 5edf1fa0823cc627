/** What calls of functions and operators cost by their arguments, as cel-go and kube-apiserver count it. */
import { celLibrary } from "./library.ts";
import { Address, Block } from "./network.ts";
import type { NamedFormat } from "./strings.ts";

/** Returns the cost of a call from its arguments, of which the receiver is the first one, and its result. */
export type CallCost = (args: readonly unknown[], result: unknown) => number;

const perCharacter = 0.1;
const perPatternCharacter = 0.25;
const newList = 10;
const newStruct = 40;

const traversed: CallCost = ([text]) => Math.ceil(sizeOf(text) * perCharacter);
const copied: CallCost = ([text]) => Math.ceil(sizeOf(text) * 2 * perCharacter);
const visited: CallCost = ([value]) => traversal(value);
const searched: CallCost = ([text, pattern]) => matching(sizeOf(text), sizeOf(pattern));
const result: CallCost = (_, list) => newListOf(1, sizeOf(list));
const sorted: CallCost = ([list]) => compared(list);
const selected: CallCost = ([, selector]) => {
  const length = sizeOf(selector);
  return newList + Math.ceil(length * perCharacter) + Math.ceil(Math.ceil(length / 2) * (newList + newStruct));
};

/** Costs by the name of the function, whatever the types of its arguments are. */
const byName: Readonly<Record<string, CallCost>> = {
  check: () => 350_000,
  fieldSelector: selected,
  labelSelector: selected,
  isSorted: visited,
  sum: visited,
  max: visited,
  min: visited,
  indexOf: visited,
  lastIndexOf: visited,
  url: traversed,
  lowerAscii: traversed,
  upperAscii: traversed,
  substring: traversed,
  trim: traversed,
  "jsonpatch.escapeKey": traversed,
  replace: copied,
  split: copied,
  join: (_, text) => Math.ceil(sizeOf(text) * 2 * perCharacter),
  find: searched,
  findAll: searched,
  cidr: traversed,
  isIP: traversed,
  isCIDR: traversed,
  "ip.isCanonical": copied,
  quantity: traversed,
  isQuantity: traversed,
  semver: traversed,
  isSemver: traversed,
  containsIP: contained,
  containsCIDR: containing,
  validate: ([format, text]) => matching(sizeOf(text), (format as NamedFormat).patternSize),
};

/** Costs by the overload, where the types of the arguments decide on one. */
const byOverload: Readonly<Record<string, CallCost>> = {
  string_to_ip: traversed,
  cidr_contains_ip_string: (args) => contained(args) + traversed(args.slice(1), undefined),
  cidr_contains_cidr_string: (args) => containing(args) + traversed(args.slice(1), undefined),
  starts_with_string: traversed,
  ends_with_string: traversed,
  string_to_bytes: traversed,
  bytes_to_string: traversed,
  strings_quote: traversed,
  string_format: traversed,
  matches_string: searched,
  contains_string: ([text, part]) => traversed([text], undefined) * traversed([part], undefined),
  list_sets_contains_list: pairs(1),
  list_sets_intersects_list: pairs(1),
  list_sets_equivalent_list: pairs(2),
  list_slice: result,
  list_reverse: result,
  lists_range: result,
  list_flatten: ([list]) => newListOf(1, sizeOf(list)),
  list_flatten_int: ([list, depth]) => newListOf(Number(depth), sizeOf(list)),
  list_distinct: sorted,
};

/**
 * Returns what a call costs; `undefined` when that is 1.
 *
 * @param overloads those that the types of the arguments leave open; where there are several, the cost is that of the
 *   name
 */
export function callCostOf(name: string, overloads: readonly string[]): CallCost | undefined {
  const [only] = overloads;
  const own = overloads.length === 1 && only !== undefined ? (byOverload[only] ?? sorting(only)) : undefined;
  return own ?? (Object.hasOwn(byName, name) ? byName[name] : undefined);
}

/** Returns the cost of an operator from its operands. */
export type OperatorCost = (left: unknown, right: unknown) => number;

/** Returns what an operator costs; `undefined` when that is 1. */
export function operatorCostOf(sign: string, overloads: readonly string[]): OperatorCost | undefined {
  if (sign === "==") return equality;
  if (sign === "!=") return shorter;
  const [only = ""] = overloads;
  if (overloads.length !== 1) return undefined;
  if (only === "in_list") return (_, list) => contentSize(list);
  if (only === "add_string" || only === "add_bytes") return joined;
  return /^(?:less|greater)(?:_equals)?_(?:string|bytes)$/.test(only) ? shorter : undefined;
}

function shorter(one: unknown, other: unknown): number {
  const [left, right] = [contentSize(one), contentSize(other)];
  return Math.ceil((left < right ? left : right) * perCharacter);
}

function joined(one: unknown, other: unknown): number {
  return Math.ceil((contentSize(one) + contentSize(other)) * perCharacter);
}

/** Compares addresses at the cost of one, and everything else by its size. */
function equality(one: unknown, other: unknown): number {
  return one instanceof Address || one instanceof Block ? 1 : shorter(one, other);
}

function sorting(overload: string): CallCost | undefined {
  return /^list_.*_sort$/.test(overload) ? sorted : undefined;
}

function contained([block]: readonly unknown[]): number {
  return Math.ceil(sizeOf(block) * 2 * perCharacter);
}

function containing([block]: readonly unknown[]): number {
  return contained([block]) + Math.ceil(sizeOf(block) * perCharacter) + 1;
}

function pairs(factor: number): CallCost {
  return ([one, other]) => 1 + sizeOf(one) * sizeOf(other) * factor;
}

function matching(length: number, pattern: number): number {
  return Math.ceil((1 + length) * perCharacter) * Math.ceil(pattern * perPatternCharacter);
}

function newListOf(factor: number, size: number): number {
  return Math.trunc(size * factor) + 1 + newList;
}

/** Returns the cost of comparing each item of a list with each other. */
export function compared(list: unknown): number {
  if (!Array.isArray(list)) return 1;
  const isText = typeof list[0] === "string" || list[0] instanceof Uint8Array;
  return newListOf(isText ? 2 + perCharacter : 2, list.length ** 2);
}

/** Returns the number of characters, bytes, items or entries; 1 for any other value. */
function sizeOf(value: unknown): number {
  switch (typeof value) {
    case "string":
      return lengthOf(value);
    case "object":
      return value === null ? 1 : objectSize(value);
    default:
      return 1;
  }
}

/** Returns the size of what an optional holds, and of anything else as it is. */
function contentSize(value: unknown): number {
  if (typeof value !== "object") return sizeOf(value);
  return value instanceof celLibrary().Optional && value.hasValue() ? contentSize(value.value()) : sizeOf(value);
}

function objectSize(value: object): number {
  if (Array.isArray(value) || value instanceof Uint8Array) return value.length;
  if (value instanceof Map) return value.size;
  if (value instanceof Address) return value.family === 4 ? 4 : 16;
  if (value instanceof Block) return Math.ceil(value.length / 8);
  return isRecord(value) ? Object.keys(value).length : 1;
}

function isRecord(value: object): value is Readonly<Record<string, unknown>> {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

/** Counts the characters, of which some are two code units. */
function lengthOf(text: string): number {
  let length = text.length;
  for (let at = 1; at < text.length; at++) {
    if ((text.charCodeAt(at) & 0xfc00) === 0xdc00 && (text.charCodeAt(at - 1) & 0xfc00) === 0xd800) length--;
  }
  return length;
}

/** Returns the cost of visiting everything in a value. */
function traversal(value: unknown): number {
  if (typeof value === "string") return Math.trunc(Buffer.byteLength(value) * perCharacter);
  if (value instanceof Uint8Array) return Math.trunc(value.length * perCharacter);
  if (Array.isArray(value)) return value.reduce<number>((sum, item) => sum + traversal(item), 0);
  if (value instanceof Map) return entriesTraversal([...value]);
  return typeof value === "object" && value !== null && isRecord(value) ? entriesTraversal(Object.entries(value)) : 1;
}

function entriesTraversal(entries: readonly (readonly [unknown, unknown])[]): number {
  return entries.reduce((sum, [key, field]) => sum + traversal(key) + traversal(field), 0);
}
