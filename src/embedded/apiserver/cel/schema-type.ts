/** What a schema is to expressions. */
import { escapeName } from "./values.ts";
import type { Schema } from "../schema/schema.ts";
import {
  bool,
  bytes,
  double,
  duration,
  dyn,
  int,
  listOf,
  mapOf,
  string,
  struct,
  timestamp,
  type Type,
} from "./type.ts";

const formats: Readonly<Record<string, Type>> = {
  byte: bytes,
  duration,
  date: timestamp,
  "date-time": timestamp,
};

/** The type of a schema's values; `undefined` for what expressions do not see. @param root the whole of an object */
export function schemaType(schema: Schema, root: boolean): Type | undefined {
  if (schema.intOrString) return dyn;
  switch (schema.type) {
    case "array": {
      const items = schema.items && schemaType(schema.items, schema.items.embedded);
      return items && listOf(items);
    }
    case "object": {
      if (schema.additional === undefined || schema.properties !== undefined) return objectType(schema, root);
      const values = schemaType(schema.additional, schema.additional.embedded);
      return values && mapOf(string, values);
    }
    case "string":
      return formats[schema.format ?? ""] ?? string;
    case "boolean":
      return bool;
    case "number":
      return double;
    case "integer":
      return int;
    default:
      return undefined;
  }
}

const metadata = struct(
  "object.metadata",
  () =>
    new Map([
      ["name", string],
      ["generateName", string],
    ]),
);

function objectType(schema: Schema, root: boolean): Type {
  return struct("object", () => {
    const fields = new Map<string, Type>();
    for (const [name, property] of schema.properties ?? []) {
      const type = schemaType(property, property.embedded);
      if (type !== undefined) fields.set(escapeName(name), type);
    }
    if (root) fields.set("apiVersion", string).set("kind", string).set("metadata", metadata);
    return fields;
  });
}
