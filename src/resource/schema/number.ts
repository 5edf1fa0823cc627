/** Converts numbers: ranges, steps and integer formats. */
import type { z } from "zod";
import { checksOf, unknownCheck } from "./checks.ts";
import { coerced } from "./string.ts";
import { SchemaProblem, type StructuralSchema } from "./structural.ts";

interface Bound {
  readonly value: number;
  readonly inclusive: boolean;
}

/**
 * `z.int()` becomes `format: int64` without the bounds of safe integers, which would appear in every schema without a
 * use. `z.uint32()` keeps its bounds, because the API server does not know its format.
 */
export function numberSchema(schema: z.core.$ZodNumber, path: string): StructuralSchema {
  if (schema._zod.def.coerce) throw coerced(path, "z.number() or z.int()");
  let min: Bound | undefined;
  let max: Bound | undefined;
  const steps = new Set<number>();
  const formats = new Set<string>();
  for (const check of checksOf(schema, path)) {
    if (check.check === "greater_than") min = tighter(min, bound(check.value, check.inclusive, path), 1);
    else if (check.check === "less_than") max = tighter(max, bound(check.value, check.inclusive, path), -1);
    else if (check.check === "multiple_of") steps.add(Number(check.value));
    else if (check.check === "number_format") formats.add(check.format);
    else throw unknownCheck(path, check.check);
  }
  if (formats.has("uint32")) {
    min = tighter(min, { value: 0, inclusive: true }, 1);
    max = tighter(max, { value: 4294967295, inclusive: true }, -1);
  }
  const integer = formats.has("int32") || formats.has("uint32") || formats.has("safeint");
  const format = formats.has("int32") ? "int32" : integer ? "int64" : formats.has("float32") ? "float" : undefined;
  const [step, ...more] = steps;
  return {
    type: integer ? "integer" : "number",
    ...(format === undefined ? {} : { format }),
    ...(min === undefined ? {} : { minimum: min.value }),
    ...(min?.inclusive === false ? { exclusiveMinimum: true } : {}),
    ...(max === undefined ? {} : { maximum: max.value }),
    ...(max?.inclusive === false ? { exclusiveMaximum: true } : {}),
    ...(step === undefined ? {} : { multipleOf: step }),
    ...(more.length === 0 ? {} : { allOf: more.map((multipleOf) => ({ multipleOf })) }),
  };
}

function bound(value: unknown, inclusive: boolean, path: string): Bound | undefined {
  if (typeof value !== "number" || Number.isNaN(value)) throw new SchemaProblem(path, "bounds must be numbers");
  // An infinite bound, as in .max(Infinity), has no effect.
  return Number.isFinite(value) ? { value, inclusive } : undefined;
}

function tighter(a: Bound | undefined, b: Bound | undefined, sign: 1 | -1): Bound | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  const difference = (a.value - b.value) * sign;
  return difference > 0 || (difference === 0 && !a.inclusive) ? a : b;
}
