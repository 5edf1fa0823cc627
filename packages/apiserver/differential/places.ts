/** Finds places within an object, and makes objects that differ at one place. */
import type { Schema } from "../src/schema/schema.ts";

export type Path = readonly (string | number)[];

/** Returns every place with a value, from the outside in. */
export function pathsOf(value: unknown, path: Path = []): Path[] {
  const here = path.length === 0 ? [] : [path];
  if (Array.isArray(value)) return [...here, ...value.flatMap((item, index) => pathsOf(item, [...path, index]))];
  if (typeof value !== "object" || value === null) return here;
  return [...here, ...Object.entries(value).flatMap(([name, field]) => pathsOf(field, [...path, name]))];
}

export function at(value: unknown, path: Path): unknown {
  return path.reduce<unknown>((inner, step) => (inner as Record<string | number, unknown> | undefined)?.[step], value);
}

/** Returns a copy with another value at the place; `undefined` removes it. */
export function changedAt<T>(fields: T, path: Path, value: unknown): T {
  const copy = structuredClone(fields);
  const parent = at(copy, path.slice(0, -1)) as Record<string | number, unknown>;
  const last = path.at(-1) as string | number;
  if (value !== undefined) parent[last] = value;
  else if (Array.isArray(parent)) parent.splice(last as number, 1);
  else delete parent[last];
  return copy;
}

export function schemaAt(schema: Schema | undefined, path: Path): Schema | undefined {
  let place = schema;
  for (const step of path) {
    place =
      typeof step === "number"
        ? place?.items
        : (place?.properties?.get(step) ?? (place?.properties ? undefined : place?.additional));
  }
  return place;
}

/** Returns the fields of the schema that the object lacks, in each of its structs. */
export function absentFields(schema: Schema, fields: unknown): { path: Path; schema: Schema }[] {
  const absent: { path: Path; schema: Schema }[] = [];
  for (const path of [[], ...pathsOf(fields)] as Path[]) {
    const value = at(fields, path);
    const here = schemaAt(schema, path);
    if (!here?.properties || typeof value !== "object" || value === null) continue;
    for (const [name, field] of here.properties) {
      if (path.length === 0 && (name === "metadata" || name === "apiVersion" || name === "kind")) continue;
      if (!Object.hasOwn(value, name)) absent.push({ path: [...path, name], schema: field });
    }
  }
  return absent;
}
