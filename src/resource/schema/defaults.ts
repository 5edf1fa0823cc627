/** Applies the defaults of a structural schema as the API server does when it reads an object. */
import type { StructuralSchema } from "./structural.ts";
import { setField } from "../any-key.ts";

/** Returns the value with defaults: the same value when nothing is missing, otherwise a copy of the changed parts. */
type Fill = (value: unknown) => unknown;

type Fields = Readonly<Record<string, unknown>>;

/** `undefined` marks a schema without defaults, so that such parts of an object are never visited. */
const fills = new WeakMap<StructuralSchema, { readonly fill: Fill | undefined }>();

/**
 * Returns the value with the defaults of its schema. The argument does not change, and complete parts of it are shared.
 *
 * @see https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/#defaulting
 */
export function withDefaults<T>(schema: StructuralSchema, value: T): T {
  const fill = fillOf(schema);
  return fill === undefined ? value : (fill(value) as T);
}

function fillOf(schema: StructuralSchema): Fill | undefined {
  let entry = fills.get(schema);
  if (entry === undefined) {
    entry = { fill: schema.items === undefined ? fillFields(schema) : fillItems(schema.items) };
    fills.set(schema, entry);
  }
  return entry.fill;
}

function fillItems(items: StructuralSchema): Fill | undefined {
  const fill = fillOf(items);
  if (fill === undefined) return undefined;
  return (value) => {
    if (!Array.isArray(value)) return value;
    let copy: unknown[] | undefined;
    for (const [index, item] of value.entries()) {
      const filled = fill(item);
      if (filled === item) continue;
      copy ??= [...(value as readonly unknown[])];
      copy[index] = filled;
    }
    return copy ?? value;
  };
}

interface NamedField {
  readonly name: string;
  readonly schema: StructuralSchema;
  readonly fill: Fill | undefined;
}

function fillFields({ properties = {}, additionalProperties }: StructuralSchema): Fill | undefined {
  const named: readonly NamedField[] = Object.entries(properties)
    .map(([name, schema]) => ({ name, schema, fill: fillOf(schema) }))
    .filter(({ schema, fill }) => schema.default !== undefined || fill !== undefined);
  const other = additionalProperties && fillOf(additionalProperties);
  if (named.length === 0 && other === undefined) return undefined;
  return (value) => {
    if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
    const fields = value as Fields;
    let copy: Record<string, unknown> | undefined;
    const put = (name: string, field: unknown): void => {
      copy ??= { ...fields };
      setField(copy, name, field);
    };
    for (const { name, schema, fill } of named) {
      const before = Object.hasOwn(fields, name) ? fields[name] : undefined;
      const isMissing = before === undefined || (before === null && schema.nullable !== true);
      const start = isMissing ? schema.default : before;
      const filled = fill === undefined || start === undefined ? start : fill(start);
      if (filled !== before && filled !== undefined) put(name, isMissing ? structuredClone(filled) : filled);
    }
    if (other !== undefined) {
      for (const [name, field] of Object.entries(fields)) {
        if (Object.hasOwn(properties, name)) continue;
        const filled = other(field);
        if (filled !== field) put(name, filled);
      }
    }
    return copy ?? value;
  };
}
