/** Numbers whose spelling matters: Go accepts neither `1e2` nor `2.0` as an integer, although both are integers. */
import { parseWithSource, rawJson } from "#platform/json";
import { goNumberOf, isFloat, numberOf } from "../numbers.ts";
import type { Reviver } from "../platform/json.ts";
import { setField } from "./set-field.ts";

export class NumberText {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  get value(): number {
    return Number(this.text);
  }

  /** Makes `writeJson` keep the number's spelling. */
  toJSON(): unknown {
    return rawJson(this.text);
  }
}

/** Copies a value of JSON; numbers keep their spelling. */
export function copied<Value>(value: Value): Value {
  if (Array.isArray(value)) return value.map(copied) as Value;
  if (typeof value !== "object" || value === null || value instanceof NumberText || isFloat(value)) return value;
  const copy: Record<string, unknown> = {};
  for (const [name, field] of Object.entries(value)) setField(copy, name, copied(field));
  return copy as Value;
}

/** Parses JSON; a number with an unusual spelling keeps its text. */
export function parseWithNumberTexts(text: string): unknown {
  const keep: Reviver = (_, value, { source = "" }) => {
    if (typeof value === "string") return value.toWellFormed();
    if (typeof value !== "number" || /^(?!-0$)-?\d{1,15}$/.test(source) || source === "") return value;
    return Number.isInteger(value) || String(value) !== source ? new NumberText(source) : value;
  };
  return parseWithSource(text, keep);
}

/** Whether a JSON text has a number that exceeds the range of a float64. @throws SyntaxError when it is not JSON */
export function isEndless(text: string): boolean {
  if (!/\d[eE]\+?\d{3}/.test(text)) return false;
  let isFound = false;
  JSON.parse(text, (_, value: unknown) => {
    isFound ||= value === Infinity || value === -Infinity;
    return value;
  });
  return isFound;
}

/** Returns the same value with plain numbers. */
export function withoutNumberTexts(value: unknown): unknown {
  if (value instanceof NumberText) return numberOf(value.text);
  if (Array.isArray(value)) return value.map(withoutNumberTexts);
  if (typeof value !== "object" || value === null || isFloat(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, withoutNumberTexts(inner)]));
}

/** Returns the same value with the numbers that Go reads. */
export function withGoNumbers<Value>(value: Value): Value {
  if (value instanceof NumberText) return goNumberOf(value.text) as Value;
  if (Array.isArray(value)) return value.map(withGoNumbers) as Value;
  if (typeof value !== "object" || value === null || isFloat(value)) return value;
  const copy: Record<string, unknown> = {};
  for (const [name, field] of Object.entries(value)) setField(copy, name, withGoNumbers(field));
  return copy as Value;
}

/** Whether the text spells an integer of 64 bits. */
export function isInt64(text: string): boolean {
  return /^-?\d{1,19}$/.test(text) && BigInt.asIntN(64, BigInt(text)) === BigInt(text);
}
