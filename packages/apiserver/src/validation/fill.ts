/** Functions that set empty fields: rules for defaults use them. */
import type { Fields } from "../hooks.ts";

/** Changes a struct in place, like the `SetDefaults_` function with its name. */
export type Default = (fields: Fields) => void;

export type DefaultTable = Readonly<Record<string, Default>>;

/** Sets fields that are absent, null or empty texts. Values that are objects are copied. */
export function fill(fields: Fields, values: Readonly<Fields>): void {
  for (const [name, value] of Object.entries(values)) {
    const present = fields[name];
    if (present !== undefined && present !== null && present !== "") continue;
    fields[name] = typeof value === "object" ? structuredClone(value) : value;
  }
}

/** Sets numbers that are absent or 0, for fields in which Go does not distinguish the two. */
export function fillNumbers(fields: Fields, values: Readonly<Record<string, number>>): void {
  for (const [name, value] of Object.entries(values)) if (!fields[name]) fields[name] = value;
}

/** Sets fields that are absent or null; an empty text stays, to be rejected. */
export function fillAbsent(fields: Fields, values: Readonly<Fields>): void {
  for (const [name, value] of Object.entries(values)) {
    if (fields[name] === undefined || fields[name] === null) fields[name] = structuredClone(value);
  }
}

/** Returns a default that sets only absent fields. */
export function filledAbsent(values: Readonly<Fields>): Default {
  return (fields) => fillAbsent(fields, values);
}

/** Returns a default that sets empty fields. */
export function filled(values: Readonly<Fields>): Default {
  return (fields) => fill(fields, values);
}

/** Returns the object in a field; when the field is empty, a new object that is not stored. */
export function inner(fields: Fields, name: string): Fields {
  const value = fields[name];
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Fields) : {};
}

/** Returns the objects of a list in a field. */
export function each(fields: Fields, name: string): Fields[] {
  const value = fields[name];
  return Array.isArray(value) ? value.filter((item) => typeof item === "object" && item !== null) : [];
}

/** Whether a field has a value. */
export function has(fields: Fields, name: string): boolean {
  const value = fields[name];
  return value !== undefined && value !== null;
}
