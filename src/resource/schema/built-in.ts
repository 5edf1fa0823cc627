/** The schemas of built-in types for kinds of modules, which `binnacle/schemas` exports. */
import { z } from "zod";
import { SCHEMA_TABLE } from "../builtin/schema-table.ts";
import type { NestedObjectMeta } from "../builtin/meta.ts";
import { problemOf } from "./fit.ts";
import type { DetailedRow, Plain, Row, SchemaTable, TypeRow } from "./schema-table.ts";
import { structural, type StructuralSchema } from "./structural.ts";

/** Makes the schema of a built-in type; its values have the type of `binnacle/resources`. */
export type BuiltInSchema<T> = () => z.ZodType<T, T>;

/** A kind as a part of another one: every field is optional. */
export type TemplateOf<Write extends { readonly metadata: unknown }> = {
  readonly apiVersion?: string | undefined;
  readonly kind?: string | undefined;
  readonly metadata?: NestedObjectMeta | undefined;
} & { readonly [K in Exclude<keyof Write, "metadata">]?: Write[K] | undefined };

/** Returns the function that makes a type's schema; nothing is read of the table before a schema is converted. */
export function builtIn<T>(name: string): BuiltInSchema<T> {
  return () => {
    const schema = z.custom<T>((value) => problemOf(schemaOf(name), value) === undefined, {
      error: ({ input }) => problemOf(schemaOf(name), input) ?? "",
    });
    return structural(schema, () => schemaOf(name));
  };
}

let table: SchemaTable | undefined;

/** The finished schemas: types share the schemas of their parts. */
const schemas = new Map<string, StructuralSchema>();
/** The types whose schemas are being made. */
const around = new Set<string>();

function schemaOf(name: string): StructuralSchema {
  table ??= JSON.parse(SCHEMA_TABLE) as SchemaTable;
  let schema = schemas.get(name);
  if (schema !== undefined) return schema;
  // The API server has no recursive schemas. JSONSchemaProps, the only recursive type, keeps all fields at its
  // recursion.
  if (around.has(name)) return plain.object;
  around.add(name);
  schema = ofType(table[name]!);
  around.delete(name);
  schemas.set(name, schema);
  return schema;
}

function ofType(row: TypeRow): StructuralSchema {
  if (typeof row === "string") return plain[row];
  const { fields, required, map } = row;
  return {
    type: "object",
    properties: Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, ofRow(field)])),
    ...(required === undefined ? {} : { required }),
    ...(map === undefined ? {} : { "x-kubernetes-map-type": map }),
  };
}

function ofRow(row: Row): StructuralSchema {
  if (typeof row === "string") return plain[row as Plain] ?? schemaOf(row);
  const { default: value, nullable, list, keys, map } = row;
  return {
    ...withoutDetails(row),
    ...(value === undefined ? {} : { default: value }),
    ...(nullable === undefined ? {} : { nullable }),
    ...(list === undefined ? {} : { "x-kubernetes-list-type": list }),
    ...(keys === undefined ? {} : { "x-kubernetes-list-map-keys": keys }),
    ...(map === undefined ? {} : { "x-kubernetes-map-type": map }),
  };
}

function withoutDetails({ is, items, values }: DetailedRow): StructuralSchema {
  if (items !== undefined) return { type: "array", items: ofRow(items) };
  if (values !== undefined) return { type: "object", additionalProperties: ofRow(values) };
  return ofRow(is!);
}

const number = String.raw`(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))`;

const plain: Readonly<Record<Plain, StructuralSchema>> = {
  string: { type: "string" },
  boolean: { type: "boolean" },
  integer: { type: "integer" },
  int32: { type: "integer", format: "int32" },
  int64: { type: "integer", format: "int64" },
  number: { type: "number" },
  double: { type: "number", format: "double" },
  byte: { type: "string", format: "byte" },
  "date-time": { type: "string", format: "date-time" },
  quantity: {
    "x-kubernetes-int-or-string": true,
    pattern: String.raw`^(\+|-)?${number}(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?${number}))?$`,
  },
  "int-or-string": { "x-kubernetes-int-or-string": true },
  object: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
  any: { nullable: true, "x-kubernetes-preserve-unknown-fields": true },
};
