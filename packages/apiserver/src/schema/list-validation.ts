/** Checks that items of sets and list maps are unique. */
import { type FieldError, goJson } from "../field-error.ts";
import { isFloat } from "../numbers.ts";
import type { Schema } from "./schema.ts";

export function validateLists(schema: Schema, value: unknown, path = ""): FieldError[] {
  const errors: FieldError[] = [];
  visit(schema, value, { path, errors });
  return errors;
}

interface Place {
  readonly path: string;
  readonly errors: FieldError[];
}

function visit(schema: Schema, value: unknown, { path, errors }: Place): void {
  if (schema.go || typeof value !== "object" || value === null || isFloat(value)) return;
  if (Array.isArray(value)) {
    if (schema.listType === "set") duplicates(value, { path, errors });
    else if (schema.listType === "map") checkKeys(value, { path, errors, keys: schema.listKeys });
    if (schema.items) {
      for (const [index, item] of value.entries()) visit(schema.items, item, { path: `${path}[${index}]`, errors });
    }
    return;
  }
  for (const [name, field] of Object.entries(value)) {
    const property = schema.properties?.get(name);
    if (property) visit(property, field, { path: path === "" ? name : `${path}.${name}`, errors });
    else if (schema.additional) visit(schema.additional, field, { path: `${path}[${name}]`, errors });
  }
}

/** Reports each duplicate value at its second occurrence. */
function duplicates(values: readonly unknown[], { path, errors }: Place): void {
  const seen = new Map<string, number>();
  for (const [index, value] of values.entries()) {
    const key = `${goJson(value ?? null)}${hasFloat(value) ? " as a float" : ""}`;
    const times = (seen.get(key) ?? 0) + 1;
    seen.set(key, times);
    if (times === 2) errors.push({ type: "Duplicate", field: `${path}[${index}]`, badValue: value, detail: "" });
  }
}

/** Whether the value or one of its fields is a float without a fraction, which is not the same as the integer. */
function hasFloat(value: unknown): boolean {
  return isFloat(value) || (typeof value === "object" && value !== null && Object.values(value).some(isFloat));
}

function checkKeys(
  items: readonly unknown[],
  { path, errors, keys }: Place & { readonly keys: readonly string[] },
): void {
  for (const [index, item] of items.entries()) {
    if (item === null || (typeof item === "object" && !Array.isArray(item))) continue;
    const detail = "must be an object for an array of list-type map";
    errors.push({ type: "Invalid", field: `${path}[${index}]`, badValue: item, detail });
    return;
  }
  const values = items.map((item) => {
    const fields = (item ?? {}) as Readonly<Record<string, unknown>>;
    return Object.fromEntries(keys.filter((key) => Object.hasOwn(fields, key)).map((key) => [key, fields[key]]));
  });
  duplicates(values, { path, errors });
}
