/** Checks whether an object has every field that its type guarantees, and completes it. */
import type { StructuralSchema } from "./structural.ts";

type Fields = Readonly<Record<string, unknown>>;

/**
 * Whether the value has every field that the schema requires or has a default for, at any depth.
 *
 * Values are not validated, so a complete object may be invalid.
 */
export function isComplete(schema: StructuralSchema, value: unknown): boolean {
  if (Array.isArray(value)) {
    const { items } = schema;
    return items === undefined || value.every((item) => isComplete(items, item));
  }
  if (typeof value !== "object" || value === null) return true;
  const fields = value as Fields;
  const { properties = {}, additionalProperties } = schema;
  const required = requiredOf(schema, fields);
  for (const name in properties) {
    const property = properties[name]!;
    const field = fields[name];
    if (isMissing(property, field)) {
      if (property.default !== undefined || required.includes(name)) return false;
    } else if (field !== null && typeof field === "object" && !isComplete(property, field)) return false;
  }
  if (additionalProperties === undefined) return true;
  return Object.entries(fields).every(
    ([name, field]) => Object.hasOwn(properties, name) || isComplete(additionalProperties, field),
  );
}

/** Returns the value with its missing fields: defaults, or empty values where there are none. The given value does not change. */
export function completed(schema: StructuralSchema, value: unknown): unknown {
  if (isMissing(schema, value)) {
    const start = schema.default ?? emptyOf(schema);
    return typeof start === "object" ? completed(schema, structuredClone(start)) : start;
  }
  if (Array.isArray(value)) {
    const { items } = schema;
    return items === undefined ? value : value.map((item) => completed(items, item));
  }
  if (typeof value !== "object" || value === null) return value;
  const fields: Record<string, unknown> = { ...value };
  const { properties = {}, additionalProperties } = schema;
  for (const name of Object.keys(fields)) {
    const property = Object.hasOwn(properties, name) ? properties[name] : additionalProperties;
    if (property !== undefined && fields[name] !== undefined) fields[name] = completed(property, fields[name]);
  }
  for (const [name, property] of Object.entries(properties)) {
    if (isMissing(property, fields[name]) && property.default !== undefined)
      fields[name] = completed(property, undefined);
  }
  const variant = variantOf(schema, fields);
  for (const name of requiredOf(schema, fields)) {
    const property = properties[name];
    if (property === undefined || !isMissing(property, fields[name])) continue;
    fields[name] = completed({ ...property, ...variant?.properties?.[name] }, undefined);
  }
  return fields;
}

function isMissing(schema: StructuralSchema, value: unknown): boolean {
  return value === undefined || (value === null && schema.nullable !== true);
}

function requiredOf(schema: StructuralSchema, fields: Fields): readonly string[] {
  const { required = [] } = schema;
  const variant = variantOf(schema, fields);
  if (variant === undefined) return required;
  return [...required, ...(variant.required ?? []), ...Object.keys(variant.properties ?? {})];
}

/** Returns the option of a discriminated union to which the object belongs, or the first one while that is unknown. */
function variantOf({ oneOf }: StructuralSchema, fields: Fields): StructuralSchema | undefined {
  const isThis = ({ properties = {} }: StructuralSchema): boolean =>
    Object.entries(properties).every(([name, property]) => property.enum?.includes(fields[name]) === true);
  return oneOf?.find(isThis) ?? oneOf?.[0];
}

function emptyOf(schema: StructuralSchema): unknown {
  const values = schema.enum ?? schema.allOf?.find((one) => one.enum !== undefined)?.enum;
  if (values !== undefined) return values[0];
  switch (schema.type) {
    case "string":
      return "";
    case "integer":
    case "number":
      return 0;
    case "boolean":
      return false;
    case "array":
      return [];
    default:
      return schema["x-kubernetes-int-or-string"] ? 0 : {};
  }
}
