/** Converts literals, enums and template literals. */
import type { z } from "zod";
import { re2 } from "./string.ts";
import { SchemaProblem, type StructuralSchema } from "./structural.ts";

/** Returns the schema of a closed set of values; `null` among them makes it nullable. */
export function valuesSchema(values: Iterable<unknown>, path: string): StructuralSchema {
  const all = [...new Set(values)];
  const some = all.filter((value) => value !== null);
  const types = new Set(some.map(typeOf));
  const [type] = types;
  if (types.size !== 1 || type === undefined) {
    throw new SchemaProblem(path, "the values of a literal or enum must all be strings, all numbers or all booleans");
  }
  return all.length === some.length ? { type, enum: some } : { type, nullable: true, enum: some };
}

function typeOf(value: unknown): "string" | "integer" | "number" | "boolean" | undefined {
  if (typeof value === "string" || typeof value === "boolean") return typeof value as "string" | "boolean";
  if (typeof value === "number") return Number.isInteger(value) ? "integer" : "number";
  return undefined;
}

export function templateSchema(schema: z.core.$ZodTemplateLiteral, path: string): StructuralSchema {
  return { type: "string", pattern: re2(schema._zod.pattern, path) };
}
