/** Orders fields as Go does: structs by their declaration, maps by their keys. */
import type { Schema } from "./schema.ts";

export function inOrder(schema: Schema | undefined, value: unknown): unknown {
  if (typeof value !== "object" || value === null || schema?.go?.own !== undefined) return value;
  if (Array.isArray(value)) return value.map((item) => inOrder(schema?.items, item));
  const keys = Object.keys(value);
  const names = schema?.properties
    ? [
        ...[...schema.properties.keys()].filter((name) => keys.includes(name)),
        ...keys.filter((name) => !schema.properties!.has(name)),
      ]
    : keys.toSorted();
  const fields = value as Record<string, unknown>;
  return Object.fromEntries(
    names.map((name) => [name, inOrder(schema?.properties?.get(name) ?? schema?.additional, fields[name])]),
  );
}
