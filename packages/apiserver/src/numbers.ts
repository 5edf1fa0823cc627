/**
 * Numbers as Go reads them from JSON: each is an integer of 64 bits or a float.
 *
 * A safe integer of JavaScript stands for an integer, any other number for a float. An integer beyond 2^53 is a
 * bigint. A float without a fraction within 2^53, such as `1.0`, is a `Number` object, and that only while a request is
 * checked: storage writes it without its point, as etcd gets it.
 */

import { parseWithSource, rawJson, stringify } from "#platform/json";
import type { Reviver } from "./platform/json.ts";

/** Whether the value is a float without a fraction. */
// oxlint-disable-next-line typescript/no-wrapper-object-types -- the object tells `1.0` from `1`
export function isFloat(value: unknown): value is Number {
  // oxlint-disable-next-line unicorn/no-instanceof-builtins -- the objects are made here
  return value instanceof Number;
}

/** Whether Go decodes the value as a 64-bit integer and not as a float. */
export function isInteger(value: unknown): value is number | bigint {
  return typeof value === "bigint" || Number.isSafeInteger(value);
}

export function isNumber(value: unknown): boolean {
  return typeof value === "number" || typeof value === "bigint" || isFloat(value);
}

/** Returns a number that Go holds as a float. */
export function asFloat(value: number): unknown {
  return Number.isSafeInteger(value) ? Object(value) : value;
}

/** Returns an integer of 64 bits as it is, and a larger one as a float. */
export function asInteger(value: bigint): number | bigint {
  const isSafe = value >= Number.MIN_SAFE_INTEGER && value <= Number.MAX_SAFE_INTEGER;
  return isSafe || BigInt.asIntN(64, value) !== value ? Number(value) : value;
}

const integral = /^-?\d+$/;

/** Returns the number that a JSON text spells, a float without a fraction as if it were an integer. */
export function numberOf(text: string): number | bigint {
  const value = Number(text);
  return !Number.isSafeInteger(value) && integral.test(text) ? asInteger(BigInt(text)) : value === 0 ? 0 : value;
}

/** Returns the number that a JSON text of a client spells. */
export function goNumberOf(text: string): unknown {
  return integral.test(text) ? numberOf(text) : asFloat(Number(text));
}

/** Matches what may be an integer beyond 2^53. */
const large = /(?:^|[:,[])\s*-?\d{16,}\s*(?:[,}\]]|$)/;

/** Matches such integers, floats that may have no fraction, and a zero with a sign. */
const unusual = /(?:^|[:,[])\s*(?:-0|-?(?:\d{16,}|\d+(?:\.\d+)?[eE][-+]?\d+|\d+\.\d+))\s*(?:[,}\]]|$)/;

/**
 * Whether JSON text may contain numbers that need `parseAsGo`. Most texts have none and are parsed at the usual cost.
 */
export function hasUnusualNumbers(text: string): boolean {
  return unusual.test(text);
}

/** Parses the JSON of a client as Go does: `1.0` is no integer yet, and unpaired surrogates are replaced. */
export function parseAsGo(text: string): unknown {
  const keep: Reviver = (_, value, { source = "" }) => {
    if (typeof value === "string") return value.toWellFormed();
    if (typeof value !== "number") return value;
    return Number.isSafeInteger(value) && source === String(value) ? value : goNumberOf(source);
  };
  return parseWithSource(text, keep);
}

/** Parses JSON that a server or a webhook wrote; integers beyond 2^53 stay exact. */
export function parseJson(text: string): unknown {
  if (!large.test(text)) return JSON.parse(text);
  const keep: Reviver = (_, value, { source = "" }) =>
    typeof value === "number" && !Number.isSafeInteger(value) ? numberOf(source) : value;
  return parseWithSource(text, keep);
}

/** Writes JSON. Objects with a bigint, which `JSON.stringify` refuses, are rare enough to begin again with them. */
export function writeJson(value: unknown, indent?: number): string {
  try {
    return stringify(value, undefined, indent);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    const write = (_: string, field: unknown): unknown => (typeof field === "bigint" ? rawJson(String(field)) : field);
    return stringify(value, write, indent);
  }
}

/** Returns a copy of a value as it comes back from storage, where floats without a fraction have become integers. */
export function settled<Value>(value: Value): Value {
  return parseJson(writeJson(value)) as Value;
}
