/** Shows built-in structs in messages: values in the server's internal form, and their differences. */
import { deepEquals } from "#platform/equality";
import type { GroupVersionKind } from "../hooks.ts";
import { writeJson } from "../numbers.ts";
import { internalForm } from "../schema/internal-form.ts";
import { escapedJson } from "../field-error.ts";
import { decodeBuiltIn } from "../schema/decode.ts";
import type { Schema } from "../schema/schema.ts";
import { unifiedDiff } from "../schema/unified-diff.ts";
import { builtInSchema } from "../tables/tables.ts";

export interface Place {
  readonly row: GroupVersionKind;
  /** The path from the object down, such as `spec.template`; list items are the list's name with `[]` at the end. */
  readonly path: string;
  /** The fields that are shown. @default all */
  readonly only?: readonly string[];
}

/** Converts a value at a place of a kind to the server's internal form; `undefined` where there is no such place. */
export function internalValue(place: Place, value: unknown): unknown {
  const schema = schemaAt(place);
  const isList = schema?.items !== undefined;
  if (!schema || isList !== Array.isArray(value)) return undefined;
  return internalForm(schema, value, place.only);
}

/** Whether two values at a place are equal once they are stored: empty lists and maps count as absent. */
export function isSameStored(place: Place, one: unknown, other: unknown): boolean {
  const schema = schemaAt(place);
  const stored = (value: unknown): unknown => (schema && value ? decodeBuiltIn(schema, value).object : (value ?? null));
  return deepEquals(stored(one), stored(other));
}

function schemaAt({ row, path }: Place): Schema | undefined {
  let schema: Schema | undefined = builtInSchema(row);
  const steps = path.split(".");
  for (const [index, step] of steps.entries()) {
    const name = step.replace("[]", "");
    schema = schema?.properties?.get(name) ?? schema?.additional;
    if (schema?.items && (index < steps.length - 1 || name !== step)) schema = schema.items;
  }
  return schema;
}

/** Returns the lines in which two values differ. */
export function internalDiff(place: Place, before: unknown, after: unknown): string {
  const text = (value: unknown): string => escapedJson(writeJson(internalValue(place, value) ?? value, 1));
  return unifiedDiff(text(before), text(after));
}
