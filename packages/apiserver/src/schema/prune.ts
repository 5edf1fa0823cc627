/** Removes unknown fields from custom resources, and nulls that the schema does not allow. */
import { goJson } from "../field-error.ts";
import { objectMetaSchema } from "./custom.ts";
import { decodeBuiltIn } from "./decode.ts";
import type { Schema } from "./schema.ts";

export interface Pruned {
  /** The unknown fields in the words of strict decoding, such as `unknown field "spec.foo"`; sorted. */
  readonly unknown: readonly string[];
  /** Why the metadata cannot be decoded. */
  readonly error: string | undefined;
}

const objectFields: ReadonlySet<string> = new Set(["apiVersion", "kind", "metadata"]);

type Fields = Record<string, unknown>;

/**
 * Removes the fields that the schema of a custom resource does not declare, decodes its metadata, and drops nulls that
 * the schema does not allow, except where it has a default. It changes the object.
 */
export function prune(schema: Schema, object: unknown): Pruned {
  const paths: string[] = [];
  const fields = object as Fields;
  const metadata = coerceMetadata(fields);
  if (metadata.error !== undefined) return { unknown: [], error: metadata.error };
  const inside: Inside = { errors: [], unknown: [] };
  visit(object, { ...schema, embedded: true }, { path: "", paths, inside });
  if (inside.errors[0] !== undefined) return { unknown: [], error: inside.errors[0] };
  dropNulls(object, schema);
  const unknown = paths.toSorted().map((path) => `unknown field "${path}"`);
  return { unknown: [...metadata.unknown, ...unknown, ...inside.unknown], error: undefined };
}

function coerceMetadata(object: Fields): Pruned {
  if (object.metadata === undefined) return { unknown: [], error: undefined };
  const wrapped = decodeBuiltIn(objectMetaSchema(), object.metadata);
  if (wrapped.error === undefined) object.metadata = wrapped.object;
  const unknown = wrapped.unknown.map((text) => text.replace('"', '"metadata.'));
  return { unknown, error: wrapped.error };
}

/** The errors of embedded objects. */
interface Inside {
  readonly errors: string[];
  readonly unknown: string[];
}

interface Place {
  readonly path: string;
  readonly paths: string[];
  readonly inside: Inside;
}

/** Checks kind, version and metadata of an embedded object. */
function coerceEmbedded(fields: Fields, { path, inside }: Place): void {
  for (const name of ["apiVersion", "kind"]) {
    const value = fields[name];
    if (value === undefined || typeof value === "string") continue;
    inside.errors.push(`${path}.${name}: Invalid value: ${goJson(value)}: must be a string`);
  }
  if (fields.metadata === undefined) return;
  const metadata = goJson(fields.metadata);
  const { error, unknown, object } = decodeBuiltIn(objectMetaSchema(), fields.metadata);
  if (error === undefined) fields.metadata = object;
  else inside.errors.push(`${path}.metadata: Invalid value: ${metadata}: ${error}`);
  inside.unknown.push(...unknown.map((text) => text.replace('"', `"${path}.metadata.`)));
}

function visit(value: unknown, schema: Schema | undefined, place: Place): void {
  if (schema?.go) return;
  if (typeof value !== "object" || value === null) return;
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) {
      const inner = { ...place, path: `${place.path}[${index}]` };
      if (schema?.preserveUnknown) visitKept(item, schema.items, inner);
      else visit(item, schema?.items, inner);
    }
    return;
  }
  visitFields(value as Fields, schema, place);
}

/** Prunes the content of a known field of an object whose unknown fields are preserved. */
function visitKept(value: unknown, schema: Schema | undefined, place: Place): void {
  if (schema) visit(value, schema.preserveUnknown ? schema : { ...schema, preserveUnknown: true }, place);
}

function visitFields(fields: Fields, schema: Schema | undefined, place: Place): void {
  const { path, paths } = place;
  if (schema?.embedded && path !== "") coerceEmbedded(fields, place);
  for (const [name, value] of Object.entries(fields)) {
    if (schema?.embedded && objectFields.has(name)) continue;
    const inner = path === "" ? name : `${path}.${name}`;
    const property = schema?.properties?.get(name) ?? schema?.additional;
    if (property) visit(value, property, { ...place, path: inner });
    else if (!schema?.preserveUnknown) {
      paths.push(inner);
      delete fields[name];
    }
  }
}

function dropNulls(value: unknown, schema: Schema | undefined): void {
  if (schema?.go || typeof value !== "object" || value === null) return;
  if (Array.isArray(value)) {
    for (const item of value) dropNulls(item, schema?.items);
    return;
  }
  const fields = value as Fields;
  for (const [name, field] of Object.entries(fields)) {
    const property = schema?.properties?.get(name) ?? schema?.additional;
    if (field === null && property && !property.nullable && property.default === undefined && !property.go) {
      delete fields[name];
    } else dropNulls(field, property);
  }
}
