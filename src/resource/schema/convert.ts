/**
 * Converts zod schemas to structural schemas.
 *
 * Every zod type either means the same in the API server as in zod, or is rejected with advice: nothing is dropped
 * silently, as it would be in a plain JSON schema.
 */
import type { z } from "zod";
import { annotate } from "./annotations.ts";
import { checksOf, lengthsOf, refuseChecks, unknownCheck } from "./checks.ts";
import { templateSchema, valuesSchema } from "./literal.ts";
import { numberSchema } from "./number.ts";
import { intersectionSchema, objectSchema, recordSchema } from "./object.ts";
import { coerced, stringSchema } from "./string.ts";
import { type Field, SchemaProblem, structuralOf, type StructuralSchema } from "./structural.ts";
import { unionField } from "./union.ts";

/** Alternatives to types that JSON or the API server does not have. */
const advice: Readonly<Record<string, string>> = {
  tuple: "the API server has no tuples: use z.object() with named fields, or z.array() of one type with .length()",
  bigint: "JSON has no bigint: use z.int() (z.int64() and z.bigint() are bigints), or z.string() for larger numbers",
  date: "JSON has no dates: use z.iso.datetime()",
  map: "JSON has no Map: use z.record(z.string(), …)",
  set: 'JSON has no Set: use z.array(…).meta({ listType: "set" })',
  null: "a field that is always null says nothing: use .nullable() on a type",
  undefined: "use .optional() on a type",
  void: "use .optional() on a type",
  never: "leave the field out",
  nan: "JSON has no NaN: use z.number()",
  transform: "transforms do not happen in the API server: keep the wire form and convert in your code",
  pipe: "transforms, pipes, codecs, z.preprocess() and z.stringbool() do not happen in the API server: keep the wire form and convert in your code",
  catch: ".catch() does not happen in the API server: use .default()",
  custom: "z.custom() and z.instanceof() run in JavaScript only: use a type, with a CEL rule in .meta({ rules })",
};

/** Converts a field; an error names the mistake's place in the schema and the alternative. */
export function convertField(schema: z.core.$ZodType, path: string): Field {
  const field = new Converter().convert(schema, path);
  return { ...field, schema: withNullableEnums(field.schema) };
}

/**
 * The API server rejects `null` beside `enum`, even when `enum` lists it; within `allOf` it accepts it. Parts without
 * such an enum stay as they are, because those of built-in types are shared.
 */
function withNullableEnums(schema: StructuralSchema): StructuralSchema {
  const { properties, items, additionalProperties, enum: values, ...rest } = schema;
  let fields: Record<string, StructuralSchema> | undefined;
  for (const [name, field] of Object.entries(properties ?? {})) {
    const changed = withNullableEnums(field);
    if (changed !== field) fields = { ...properties, ...fields, [name]: changed };
  }
  const inItems = items && withNullableEnums(items);
  const inValues = additionalProperties && withNullableEnums(additionalProperties);
  const isMoved = values !== undefined && rest.nullable === true;
  if (fields === undefined && inItems === items && inValues === additionalProperties && !isMoved) return schema;
  return {
    ...rest,
    ...(properties === undefined ? {} : { properties: fields ?? properties }),
    ...(inItems === undefined ? {} : { items: inItems }),
    ...(inValues === undefined ? {} : { additionalProperties: inValues }),
    ...(values === undefined ? {} : isMoved ? { allOf: [...(rest.allOf ?? []), { enum: values }] } : { enum: values }),
  };
}

class Converter {
  /** The enclosing schemas; meeting one of them again is a recursion. */
  readonly #around = new Set<z.core.$ZodType>();

  readonly convert = (schema: z.core.$ZodType, path: string): Field => {
    // Getters that return a new schema each time recur without repeating themselves; no real schema is this deep.
    if (this.#around.has(schema) || this.#around.size > 100) {
      throw new SchemaProblem(
        path,
        "the API server has no recursive schemas: use z.unknown() (kept as it is) at the depth where the recursion may end",
      );
    }
    this.#around.add(schema);
    const field = this.#dispatch(schema as z.core.$ZodTypes, path);
    this.#around.delete(schema);
    return { ...field, schema: annotate(schema, field.schema, path) };
  };

  #dispatch(schema: z.core.$ZodTypes, path: string): Field {
    const { def } = schema._zod;
    switch (def.type) {
      case "optional":
        return { schema: this.#inner(schema, def.innerType, path).schema, optional: true };
      case "nonoptional":
        return { schema: this.#inner(schema, def.innerType, path).schema, optional: false };
      case "readonly":
        return this.#inner(schema, def.innerType, path);
      case "lazy":
        return this.#inner(schema, (schema as z.core.$ZodLazy)._zod.innerType, path);
      case "nullable": {
        const inner = this.#inner(schema, def.innerType, path);
        return { ...inner, schema: { ...inner.schema, nullable: true } };
      }
      case "default":
      case "prefault": {
        const inner = this.#inner(schema, def.innerType, path);
        return { schema: { ...inner.schema, default: defaultValue(def, path) }, optional: true };
      }
      case "union":
        return unionField(schema as z.core.$ZodUnion, path, this.convert);
      default:
        return { schema: this.#required(schema, path), optional: false };
    }
  }

  #inner(outer: z.core.$ZodType, inner: z.core.$ZodType, path: string): Field {
    refuseChecks(outer, path);
    return this.convert(inner, path);
  }

  #required(schema: z.core.$ZodTypes, path: string): StructuralSchema {
    const { def } = schema._zod;
    switch (def.type) {
      case "string":
        return stringSchema(schema as z.core.$ZodString, path);
      case "number":
        return numberSchema(schema as z.core.$ZodNumber, path);
      case "object":
        return objectSchema(schema as z.core.$ZodObject, path, this.convert);
      case "record":
        return recordSchema(schema as z.core.$ZodRecord, path, this.convert);
      case "intersection":
        return intersectionSchema(schema as z.core.$ZodIntersection, path, this.convert);
      case "array":
        return this.#array(schema as z.core.$ZodArray, path);
    }
    const structural = structuralOf(schema);
    if (structural !== undefined) {
      if ((def.checks?.length ?? 0) > 0) refuseChecks(schema, path);
      return structural;
    }
    if (Object.hasOwn(advice, def.type)) throw new SchemaProblem(path, advice[def.type] ?? "");
    refuseChecks(schema, path);
    switch (def.type) {
      case "boolean":
        if (def.coerce) throw coerced(path, "z.boolean()");
        return { type: "boolean" };
      case "literal":
        return valuesSchema(def.values, path);
      case "enum":
        return valuesSchema(schema._zod.values ?? [], path);
      case "template_literal":
        return templateSchema(schema as z.core.$ZodTemplateLiteral, path);
      case "any":
      case "unknown":
        return { nullable: true, "x-kubernetes-preserve-unknown-fields": true };
      default:
        throw new SchemaProblem(path, `JSON has no ${def.type}: use another type`);
    }
  }

  #array(schema: z.core.$ZodArray, path: string): StructuralSchema {
    const { min, max, rest } = lengthsOf(checksOf(schema, path));
    for (const { check } of rest) throw unknownCheck(path, check);
    return {
      type: "array",
      items: this.convert(schema._zod.def.element, `${path}[]`).schema,
      ...(min === undefined ? {} : { minItems: min }),
      ...(max === undefined ? {} : { maxItems: max }),
    };
  }
}

function defaultValue(
  def: { readonly innerType: z.core.$ZodType; readonly defaultValue: unknown },
  path: string,
): unknown {
  const text = JSON.stringify(def.defaultValue);
  // The getter calls a default function each time.
  if (text === undefined || text !== JSON.stringify(def.defaultValue)) {
    throw new SchemaProblem(path, "a default must be one JSON value: the API server cannot call a function");
  }
  const value: unknown = JSON.parse(text);
  if (value === null) {
    throw new SchemaProblem(path, "the API server does not set a default of null: use .nullable().optional()");
  }
  const result = def.innerType["~standard"].validate(value);
  if (!(result instanceof Promise) && result.issues !== undefined) {
    throw new SchemaProblem(path, `the default ${text} does not fit the schema: ${result.issues[0]?.message}`);
  }
  return value;
}
