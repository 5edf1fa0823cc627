/** Derives the CEL type of a schema. */
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

/**
 * Returns the type of a schema's values; `undefined` for values that expressions do not see.
 *
 * @param root whether it is the whole object
 * @param name the name in messages; kube-apiserver appends a number to the first word
 */
export function schemaType(schema: Schema, root: boolean, name = "selfType"): Type | undefined {
  if (schema.intOrString) return dyn;
  switch (schema.type) {
    case "array": {
      const items = schema.items && schemaType(schema.items, schema.items.embedded, `${name}.@idx`);
      return items && listOf(items);
    }
    case "object": {
      if (schema.additional === undefined || schema.properties !== undefined) return objectType(schema, root, name);
      const values = schemaType(schema.additional, schema.additional.embedded, `${name}.@elem`);
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

/** Returns a name that is a keyword of CEL unchanged, and any other name in its escaped form. */
function keyword(name: string): string {
  return /^[a-z]+$/.test(name) ? name : escapeName(name);
}

const metadata = struct(
  "object.metadata",
  () =>
    new Map([
      ["name", string],
      ["generateName", string],
    ]),
);

function objectType(schema: Schema, root: boolean, name: string): Type {
  return struct(name, () => {
    const fields = new Map<string, Type>();
    for (const [key, property] of schema.properties ?? []) {
      const type = schemaType(property, property.embedded, `${name}.${key}`);
      // Behind a dot, a keyword may also be written without escaping.
      if (type !== undefined) fields.set(escapeName(key), type).set(key === escapeName(key) ? key : keyword(key), type);
    }
    if (root) fields.set("apiVersion", string).set("kind", string).set("metadata", metadata);
    return fields;
  });
}
