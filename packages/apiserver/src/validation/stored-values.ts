/** Compares values of a field by their stored form. */
import { deepEquals } from "#platform/equality";
import type { GroupVersionKind } from "../hooks.ts";
import { decodeBuiltIn } from "../schema/decode.ts";
import type { Schema } from "../schema/schema.ts";
import { builtInSchema } from "../tables/tables.ts";

export interface Place {
  readonly row: GroupVersionKind;
  /** The path inside the object, such as `spec.template`. */
  readonly path: string;
}

/** Whether two values of a field have the same stored form: empty lists and maps count as absent. */
export function isSameStored({ row, path }: Place, one: unknown, other: unknown): boolean {
  let schema: Schema | undefined = builtInSchema(row);
  for (const name of path.split(".")) schema = schema?.properties?.get(name);
  const stored = (value: unknown): unknown => (schema && value ? decodeBuiltIn(schema, value).object : (value ?? null));
  return deepEquals(stored(one), stored(other));
}

/** Names the places at which two values differ, at most ten, each on a line. */
export function differingPlaces(before: unknown, after: unknown): string {
  const places: string[] = [];
  const compare = (one: unknown, other: unknown, path: string): void => {
    if (places.length >= 10 || deepEquals(one, other)) return;
    const [left, right] = [membersOf(one), membersOf(other)];
    if (left === undefined || right === undefined) return void places.push(path);
    for (const name of new Set([...Object.keys(left), ...Object.keys(right)])) {
      const step = Array.isArray(one) ? `[${name}]` : path === "" ? name : `.${name}`;
      compare(left[name], right[name], path + step);
    }
  };
  compare(before, after, "");
  return places.map((place) => `changed: ${place}\n`).join("");
}

function membersOf(value: unknown): Readonly<Record<string, unknown>> | undefined {
  return typeof value === "object" && value !== null ? (value as Readonly<Record<string, unknown>>) : undefined;
}
