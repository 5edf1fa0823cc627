/** Functions on JSON values that both halves of strategic merge patches share. */
import { isFloat, isInteger, isNumber } from "../numbers.ts";
import { goJson } from "../field-error.ts";
import { StatusError } from "../status.ts";

export type Fields = Record<string, unknown>;

export const directive = "$patch";
export function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !isFloat(value);
}

export function unfit(message: string): StatusError {
  return new StatusError(500, "", { message });
}

/** Returns the text that identifies an item. */
export function identity(item: unknown, mergeKey: string): unknown {
  if (mergeKey === "") return item;
  if (!isFields(item)) throw unfit(`expected a map[string]interface {}, but received a ${goTypeOf(item)}`);
  if (!Object.hasOwn(item, mergeKey)) throw noMergeKey(item, mergeKey);
  return item[mergeKey];
}

export function noMergeKey(item: Fields, mergeKey: string): StatusError {
  return unfit(`map: ${goJson(item)} does not contain declared merge key: ${mergeKey}`);
}

export function goTypeOf(value: unknown): string {
  if (value === null || value === undefined) return "%!s(<nil>)";
  if (Array.isArray(value)) return "[]interface {}";
  if (isNumber(value)) return isInteger(value) ? "int64" : "float64";
  if (typeof value === "object") return "map[string]interface {}";
  return typeof value === "boolean" ? "bool" : "string";
}
