/** Filling fields that are left empty: the words in which defaults are written down. */
import type { Fields } from "../hooks.ts";

/** Changes a struct in place, as the `SetDefaults_` function of its name does. */
export type Default = (fields: Fields) => void;

export type DefaultTable = Readonly<Record<string, Default>>;

/** Sets what is absent, null or the empty text. Values that are objects are copied. */
export function fill(fields: Fields, values: Readonly<Fields>): void {
  for (const [name, value] of Object.entries(values)) {
    const present = fields[name];
    if (present !== undefined && present !== null && present !== "") continue;
    fields[name] = typeof value === "object" ? structuredClone(value) : value;
  }
}

/** Sets numbers that are absent or 0, where Go does not tell these apart. */
export function fillNumbers(fields: Fields, values: Readonly<Record<string, number>>): void {
  for (const [name, value] of Object.entries(values)) if (!fields[name]) fields[name] = value;
}

/** Sets what is absent or null: an empty text is kept, to be refused. */
export function fillAbsent(fields: Fields, values: Readonly<Fields>): void {
  for (const [name, value] of Object.entries(values)) {
    if (fields[name] === undefined || fields[name] === null) fields[name] = structuredClone(value);
  }
}

/** A default that only fills what is absent. */
export function filledAbsent(values: Readonly<Fields>): Default {
  return (fields) => fillAbsent(fields, values);
}

/** A default that only fills. */
export function filled(values: Readonly<Fields>): Default {
  return (fields) => fill(fields, values);
}

/** The object in a field; an empty one that is not kept where there is none. */
export function inner(fields: Fields, name: string): Fields {
  const value = fields[name];
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Fields) : {};
}

/** The objects of a list in a field. */
export function each(fields: Fields, name: string): Fields[] {
  const value = fields[name];
  return Array.isArray(value) ? value.filter((item) => typeof item === "object" && item !== null) : [];
}

/** Whether a field holds anything. */
export function has(fields: Fields, name: string): boolean {
  const value = fields[name];
  return value !== undefined && value !== null;
}
