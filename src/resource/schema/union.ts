/** Converts unions: the few whose options the API server can distinguish. */
import type { z } from "zod";
import { sameJson } from "../json.ts";
import { refuseChecks } from "./checks.ts";
import { valuesSchema } from "./literal.ts";
import type { Convert } from "./object.ts";
import { type Field, SchemaProblem, type StructuralSchema } from "./structural.ts";

export function unionField(schema: z.core.$ZodUnion, path: string, convert: Convert): Field {
  refuseChecks(schema, path);
  const all = schema._zod.def.options;
  const typeOf = (option: z.core.$ZodType) => option._zod.def.type;
  const options = all.filter((option) => typeOf(option) !== "null" && typeOf(option) !== "undefined");
  const fields = options.map((option) => convert(option, path));
  const optional = all.some((option) => typeOf(option) === "undefined") || fields.some((field) => field.optional);
  const nullable = all.some((option) => typeOf(option) === "null") || fields.some((field) => field.schema.nullable);
  const discriminator = (schema._zod.def as { readonly discriminator?: string }).discriminator;
  const merged =
    discriminator === undefined
      ? merge(fields, path)
      : mergeBranches(
          discriminator,
          options.map((option, index) => branch(option, fields[index]?.schema ?? {})),
          path,
        );
  return { schema: nullable ? { ...merged, nullable: true } : merged, optional };
}

function merge(fields: readonly Field[], path: string): StructuralSchema {
  const schemas = fields.map((field) => field.schema);
  const [first] = schemas;
  if (first !== undefined && schemas.length === 1) return first;
  if (schemas.some((schema) => schema.default !== undefined)) {
    throw new SchemaProblem(path, "put .default() on the union, not on one of its options");
  }
  if (schemas.every((schema) => schema.enum !== undefined)) {
    return valuesSchema(
      schemas.flatMap((schema) => schema.enum ?? []),
      path,
    );
  }
  const text = schemas.find((schema) => schema.type === "string");
  const number = schemas.find((schema) => schema.type === "integer");
  if (schemas.length === 2 && text !== undefined && number !== undefined) return intOrString(text, number, path);
  if (schemas.every((schema) => schema.type === "object")) {
    throw new SchemaProblem(
      path,
      'the API server cannot tell the objects of z.union() apart: use z.discriminatedUnion("type", […]), or one object with optional fields and a rule',
    );
  }
  throw new SchemaProblem(
    path,
    "of unions of plain values the API server has only string with integer, z.union([z.string(), z.int()]): choose one type, or use z.unknown() with a rule",
  );
}

/** A bound or pattern applies only to values of its own type, so the rules of both sides can be combined. */
function intOrString(text: StructuralSchema, number: StructuralSchema, path: string): StructuralSchema {
  if (text.enum !== undefined || number.enum !== undefined || text.format !== undefined) {
    throw new SchemaProblem(
      path,
      "string with integer takes no literal, enum or string format: use .regex() on the string",
    );
  }
  const { type: _text, allOf: textAll = [], ...ofText } = text;
  const { type: _number, format: _format, allOf: numberAll = [], ...ofNumber } = number;
  const allOf = [...textAll, ...numberAll];
  return { ...ofText, ...ofNumber, "x-kubernetes-int-or-string": true, ...(allOf.length === 0 ? {} : { allOf }) };
}

interface Branch {
  readonly schema: StructuralSchema;
  /** Whether options are z.strictObject: fields of other options are rejected rather than ignored. */
  readonly strict: boolean;
}

function branch(option: z.core.$ZodType, schema: StructuralSchema): Branch {
  const def = option._zod.def as { readonly catchall?: z.core.$ZodType };
  return { schema, strict: def.catchall?._zod.def.type === "never" };
}

/** Returns one object with the fields of all options, and `oneOf` for what each of them requires. */
function mergeBranches(discriminator: string, branches: readonly Branch[], path: string): StructuralSchema {
  const properties: Record<string, StructuralSchema> = {};
  const values: unknown[] = [];
  for (const { schema } of branches) {
    const own = schema.properties?.[discriminator];
    if (
      schema.type !== "object" ||
      schema.oneOf !== undefined ||
      own?.enum === undefined ||
      own.default !== undefined
    ) {
      throw new SchemaProblem(
        path,
        `each option of z.discriminatedUnion() must be a plain z.object() with a literal or enum, without default, as "${discriminator}"`,
      );
    }
    if (schema["x-kubernetes-validations"] !== undefined) {
      throw new SchemaProblem(path, "put the rules on z.discriminatedUnion(), the API server merges its options");
    }
    values.push(...own.enum);
    for (const [name, property] of Object.entries(schema.properties ?? {})) {
      if (name !== discriminator) addProperty(properties, name, property, path);
    }
  }
  for (const [name, property] of Object.entries(properties)) {
    const everywhere = branches.every(({ schema }) => Object.hasOwn(schema.properties ?? {}, name));
    if (property.default !== undefined && !everywhere) {
      throw new SchemaProblem(
        `${path}.${name}`,
        "the API server would set this default in every option of z.discriminatedUnion(): make the field optional instead",
      );
    }
  }
  const common = (branches[0]?.schema.required ?? []).filter((name) =>
    branches.every(({ schema }) => schema.required?.includes(name)),
  );
  const open = branches.some(({ schema }) => schema["x-kubernetes-preserve-unknown-fields"]);
  return {
    type: "object",
    properties: { ...properties, [discriminator]: valuesSchema(values, path) },
    ...(common.length === 0 ? {} : { required: common }),
    ...(open ? { "x-kubernetes-preserve-unknown-fields": true } : {}),
    oneOf: branches.map((option) => condition(option, discriminator, Object.keys(properties), common)),
  };
}

function addProperty(
  all: Record<string, StructuralSchema>,
  name: string,
  property: StructuralSchema,
  path: string,
): void {
  const existing = Object.hasOwn(all, name) ? all[name] : undefined;
  const { description: _a, ...known } = existing ?? property;
  const { description: _b, ...added } = property;
  if (!sameJson(known, added)) {
    throw new SchemaProblem(
      `${path}.${name}`,
      "this field has different schemas in the options of z.discriminatedUnion(): give it one schema, or one name per option",
    );
  }
  all[name] ??= property;
}

function condition(
  { schema, strict }: Branch,
  discriminator: string,
  names: readonly string[],
  common: readonly string[],
): StructuralSchema {
  const required = (schema.required ?? []).filter((name) => !common.includes(name));
  const foreign = names.filter((name) => !Object.hasOwn(schema.properties ?? {}, name));
  return {
    properties: { [discriminator]: { enum: schema.properties?.[discriminator]?.enum } },
    ...(required.length === 0 ? {} : { required }),
    ...(strict && foreign.length > 0 ? { not: { anyOf: foreign.map((name) => ({ required: [name] })) } } : {}),
  };
}
