/** Checks whether an object has every field that its type guarantees, and completes it. */
import { sameJson } from "../json.ts";
import { SAMPLES, sampleOf } from "./sample.ts";
import type { StructuralSchema } from "./structural.ts";
import { ownField } from "../any-key.ts";

type Fields = Readonly<Record<string, unknown>>;

/** The values that missing fields get. */
export interface Filling {
  /** Which of the samples required fields get. @see sampleOf */
  readonly variant: number;
  /** Whether fields with a default get a different value. */
  readonly otherDefaults: boolean;
  /** An object of the same version whose values take precedence, at the same place. */
  readonly model?: unknown;
}

/**
 * Whether the value has every field that the schema requires or has a default for, at any depth, and no `null` that it
 * does not allow.
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
    const field = ownField(fields, name);
    if (isMissing(property, field)) {
      if (field === null || property.default !== undefined || required.includes(name)) return false;
    } else if (field !== null && typeof field === "object" && !isComplete(property, field)) return false;
  }
  if (additionalProperties === undefined) return true;
  return Object.entries(fields).every(
    ([name, field]) => Object.hasOwn(properties, name) || isComplete(additionalProperties, field),
  );
}

/**
 * Returns the value with its missing fields filled: from the model, else with defaults, else with samples. A `null`
 * that the schema does not allow counts as missing. The argument does not change.
 */
export function completed(schema: StructuralSchema, value: unknown, filling: Filling): unknown {
  const { model } = filling;
  if (isMissing(schema, value)) {
    if (!isMissing(schema, model)) return completed(schema, structuredClone(model), { ...filling, model: undefined });
    const start = schema.default === undefined ? sampleOf(schema, filling.variant) : defaultOf(schema, filling);
    return typeof start === "object" ? completed(schema, structuredClone(start), filling) : start;
  }
  if (Array.isArray(value)) {
    const { items } = schema;
    return items === undefined ? value : value.map((item) => completed(items, item, { ...filling, model: undefined }));
  }
  if (typeof value !== "object" || value === null) return value;
  const fields: Record<string, unknown> = { ...value };
  const { properties = {}, additionalProperties } = schema;
  const models = typeof model === "object" && model !== null ? (model as Fields) : {};
  const fill = (name: string, property: StructuralSchema): unknown =>
    completed(property, ownField(fields, name), { ...filling, model: ownField(models, name) });
  for (const name of Object.keys(fields)) {
    const property = Object.hasOwn(properties, name) ? properties[name] : additionalProperties;
    if (property === undefined || fields[name] === undefined) continue;
    if (isMissing(property, fields[name])) delete fields[name];
    else fields[name] = fill(name, property);
  }
  for (const [name, property] of Object.entries(properties)) {
    if (isMissing(property, ownField(fields, name)) && property.default !== undefined)
      fields[name] = fill(name, property);
  }
  const variant = variantOf(schema, fields);
  for (const name of requiredOf(schema, fields)) {
    const property = Object.hasOwn(properties, name) ? properties[name] : undefined;
    if (property === undefined || !isMissing(property, ownField(fields, name))) continue;
    fields[name] = fill(name, { ...property, ...variant?.properties?.[name] });
  }
  return fields;
}

function defaultOf(schema: StructuralSchema, { variant, otherDefaults }: Filling): unknown {
  if (!otherDefaults) return schema.default;
  const other = sampleOf(schema, variant);
  return sameJson(other, schema.default) ? sampleOf(schema, (variant + 1) % SAMPLES) : other;
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

/** Returns the option of a discriminated union to which the object belongs, or the first option if that is unknown. */
function variantOf({ oneOf }: StructuralSchema, fields: Fields): StructuralSchema | undefined {
  const isThis = ({ properties = {} }: StructuralSchema): boolean =>
    Object.entries(properties).every(([name, property]) => property.enum?.includes(fields[name]) === true);
  return oneOf?.find(isThis) ?? oneOf?.[0];
}
