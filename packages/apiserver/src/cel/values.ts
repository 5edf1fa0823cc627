/**
 * Converts JSON to the values that rules see: integers differ from floats, times are timestamps, and names are escaped
 * identifiers.
 */
import { Unreadable } from "./lists.ts";
import { celEnvironment } from "./environment.ts";
import { isInteger, isNumber } from "../numbers.ts";
import type { Schema } from "../schema/schema.ts";

const reserved = new Set(
  "true false null in as break const continue else for function if import let loop package namespace return var void while".split(
    " ",
  ),
);

/** Escapes a field's name as rules spell it. */
export function escapeName(name: string): string {
  if (reserved.has(name)) return `__${name}__`;
  if (!/[_./-]/.test(name)) return name;
  return name
    .replaceAll("__", "__underscores__")
    .replaceAll(".", "__dot__")
    .replaceAll("-", "__dash__")
    .replaceAll("/", "__slash__");
}

export function toCel(value: unknown, schema: Schema | undefined): unknown {
  if (value === null || value === undefined) return null;
  if (Array.isArray(value))
    return value.map((item) => (isReadable(item, schema?.items) ? toCel(item, schema?.items) : new Unreadable(notInt)));
  if (isNumber(value)) return numberValue(value as number | bigint, schema);
  if (typeof value === "string") return textValue(value, schema?.format);
  if (typeof value !== "object") return value;
  const fields: Record<string, unknown> = Object.create(null) as Record<string, unknown>;
  const unreadable: [name: string, read: () => unknown][] = [];
  for (const [name, field] of Object.entries(value)) {
    const property = schema?.properties?.get(name);
    if (!isReadable(field, property)) {
      fields[escapeName(name)] = 0;
      unreadable.push([escapeName(name), () => toCel(field, property)]);
    } else if (property) {
      fields[escapeName(name)] = toCel(field, property);
      // Behind a dot, a keyword may also be written without escaping.
      if (reserved.has(name)) fields[name] = fields[escapeName(name)];
    } else if (schema?.additional) fields[name] = toCel(field, schema.additional);
    // Unknown fields that are preserved have no type; rules see them only in a schema that declares no fields.
    else if (!schema?.properties) fields[name] = toCel(field, undefined);
  }
  const converted = { ...fields };
  // A float in the place of an integer fails only when a rule reads it.
  for (const [name, read] of unreadable) Object.defineProperty(converted, name, { get: read, enumerable: true });
  return converted;
}

const notInt = "invalid data, expected int, got float64";

function notInteger(): never {
  throw new Error(notInt);
}

function notIntOrString(): never {
  throw new Error("invalid data, expected XIntOrString value to be either a string or integer");
}

/** Converts a whole object; the only metadata that rules see is the name. */
export function toCelRoot(object: Readonly<Record<string, unknown>>, schema: Schema): unknown {
  const { metadata, ...rest } = object;
  const { name, generateName } = (metadata ?? {}) as Readonly<Record<string, unknown>>;
  const value = toCel(rest, schema) as Record<string, unknown>;
  value.metadata = {
    ...(name === undefined ? {} : { name }),
    ...(generateName === undefined ? {} : { generateName }),
  };
  return value;
}

/** Whether a number has the type that its schema requires. */
function isReadable(value: unknown, schema: Schema | undefined): boolean {
  if (!isNumber(value) || isInteger(value)) return true;
  return schema?.type !== "integer" && schema?.intOrString !== true;
}

/** Rules see an integer or a float, whichever the JSON has. @throws Error when the schema wants the other */
function numberValue(value: number | bigint, schema: Schema | undefined): number | bigint {
  if (isInteger(value)) return schema?.type === "number" ? Number(value) : BigInt(value);
  if (schema?.type === "integer") notInteger();
  if (schema?.intOrString === true) notIntOrString();
  return Number(value);
}

function textValue(value: string, format: string | undefined): unknown {
  if (format === "date-time" || format === "datetime" || format === "date") return new Date(value);
  if (format === "byte") return new Uint8Array(Buffer.from(value, "base64"));
  if (format === "duration") return celEnvironment().evaluate("duration(self)", { self: value }) as unknown;
  return value;
}
