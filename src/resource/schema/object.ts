/** Converts objects, records and intersections. */
import type { z } from "zod";
import { sameJson } from "../json.ts";
import { checksOf, refuseChecks } from "./checks.ts";
import { type Field, SchemaProblem, type StructuralSchema } from "./structural.ts";

/** Converts a nested schema. */
export type Convert = (schema: z.core.$ZodType, path: string) => Field;

export function objectSchema(schema: z.core.$ZodObject, path: string, convert: Convert): StructuralSchema {
  refuseChecks(schema, path);
  const { shape, catchall } = schema._zod.def;
  const properties: Record<string, StructuralSchema> = {};
  const required: string[] = [];
  for (const [name, field] of Object.entries(shape)) {
    if (name === "__proto__") throw new SchemaProblem(path, 'a field cannot be named "__proto__"');
    const { schema: property, optional } = convert(field, `${path}.${name}`);
    properties[name] = property;
    if (!optional) required.push(name);
  }
  const base = withProperties(properties, required);
  // The server prunes fields that the schema does not name; z.strictObject and z.object mean the same here.
  const rest = catchall?._zod.def.type;
  if (catchall === undefined || rest === "never") return base;
  if (rest === "unknown" || rest === "any") return { ...base, "x-kubernetes-preserve-unknown-fields": true };
  if (Object.keys(properties).length > 0) {
    throw new SchemaProblem(
      path,
      "the API server has no objects with both named fields and .catchall(): put the open part in a z.record() field of its own, or use z.looseObject()",
    );
  }
  return { type: "object", additionalProperties: convert(catchall, `${path}.*`).schema };
}

function withProperties(properties: Record<string, StructuralSchema>, required: readonly string[]): StructuralSchema {
  return {
    type: "object",
    ...(Object.keys(properties).length === 0 ? {} : { properties }),
    ...(required.length === 0 ? {} : { required: [...required].sort() }),
  };
}

export function recordSchema(schema: z.core.$ZodRecord, path: string, convert: Convert): StructuralSchema {
  refuseChecks(schema, path);
  const { keyType, valueType, mode, partial } = schema._zod.def;
  const key = keyType as unknown as z.core.$ZodTypes;
  const value = convert(valueType, `${path}.*`);
  const names = key._zod.values;
  if (names !== undefined) {
    const keys = [...names].map(String);
    const needed = partial || value.optional ? [] : keys;
    return withProperties(Object.fromEntries(keys.map((name) => [name, value.schema])), needed);
  }
  if (mode === "loose" || key._zod.def.type !== "string" || checksOf(key, path).length > 0) {
    throw new SchemaProblem(
      path,
      "the API server does not check the keys of a map: use z.record(z.string(), …).meta({ rules: [{ rule: \"self.all(key, key.matches('…'))\" }] })",
    );
  }
  return { type: "object", additionalProperties: value.schema };
}

/** A `z.intersection()` of objects becomes one object with the fields of both. */
export function intersectionSchema(schema: z.core.$ZodIntersection, path: string, convert: Convert): StructuralSchema {
  refuseChecks(schema, path);
  const left = convert(schema._zod.def.left, path).schema;
  const right = convert(schema._zod.def.right, path).schema;
  if (!isPlainObject(left) || !isPlainObject(right)) {
    throw new SchemaProblem(
      path,
      "z.intersection() is for plain objects here: use z.object({ ...a.shape, ...b.shape })",
    );
  }
  for (const [name, property] of Object.entries(right.properties ?? {})) {
    if (Object.hasOwn(left.properties ?? {}, name) && !sameJson(left.properties?.[name], property)) {
      throw new SchemaProblem(
        `${path}.${name}`,
        "both sides of z.intersection() have this field, with different schemas",
      );
    }
  }
  const rules = [...(left["x-kubernetes-validations"] ?? []), ...(right["x-kubernetes-validations"] ?? [])];
  return {
    ...left,
    ...right,
    ...withProperties({ ...left.properties, ...right.properties }, [
      ...new Set([...(left.required ?? []), ...(right.required ?? [])]),
    ]),
    ...(rules.length === 0 ? {} : { "x-kubernetes-validations": rules }),
  };
}

function isPlainObject(schema: StructuralSchema): boolean {
  return schema.type === "object" && schema.oneOf === undefined && schema.additionalProperties === undefined;
}
