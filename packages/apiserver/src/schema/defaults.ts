/** Applies the defaults of schemas. */
import type { Schema } from "./schema.ts";

type Fields = Record<string, unknown>;

/**
 * Adds the schema's defaults to the object, which it changes. Defaults of built-in kinds that are Go's zero values
 * are left to decoding, as on the server.
 */
export function applyDefaults(schema: Schema, object: unknown): void {
  if (typeof object !== "object" || object === null) return;
  if (Array.isArray(object)) {
    const { items } = schema;
    if (!items) return;
    for (const [index, item] of object.entries()) {
      if (isWrongNull(item, items)) object[index] = structuredClone(items.default) ?? null;
      applyDefaults(items, object[index]);
    }
    return;
  }
  const fields = object as Fields;
  for (const [name, property] of schema.properties ?? []) {
    if (!hasDefault(property)) continue;
    const absent = !Object.hasOwn(fields, name) || isWrongNull(fields[name], property);
    if (absent || (property.go !== undefined && fields[name] === "")) fields[name] = structuredClone(property.default);
  }
  for (const name of Object.keys(fields)) {
    const property = schema.properties?.get(name) ?? schema.additional;
    if (!property) continue;
    if (property === schema.additional && isWrongNull(fields[name], property) && property.default !== undefined) {
      fields[name] = structuredClone(property.default);
    }
    applyDefaults(property, fields[name]);
  }
}

function isWrongNull(value: unknown, schema: Schema): boolean {
  return value === null && !schema.nullable;
}

function hasDefault({ default: value, go }: Schema): boolean {
  if (value === undefined) return false;
  if (!go) return true;
  return value !== "" && value !== 0 && value !== false && typeof value !== "object";
}
