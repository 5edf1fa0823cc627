/**
 * Generates TypeScript from schemas: wire names, times as strings, explicit `readonly`, one type for reading and
 * writing.
 */
import { byHand, extensions, imported, nullable, objectMeta, serverOnly } from "./by-hand.ts";
import { docstring } from "../../src/cli/docstring.ts";
import type { Schema } from "./documents.ts";
import type { BuiltinKind } from "./kinds.ts";

/** The types of other files that one file uses. */
export interface Uses {
  /** Types of `src/resource/meta.ts`. */
  readonly meta: Set<string>;
  /** Names of schemas. */
  readonly schemas: Set<string>;
}

export interface Types {
  readonly schemas: ReadonlyMap<string, Schema>;
  readonly kinds: ReadonlyMap<string, BuiltinKind>;
  readonly names: ReadonlyMap<string, string>;
}

/**
 * Returns the TypeScript name of a schema; a kind inside another one has a form of its own, in which everything is
 * optional.
 */
export function typeName({ names }: Pick<Types, "names">, id: string, nested: boolean): string {
  const name = names.get(id);
  if (!name) throw new Error(`the schema ${id} is not reachable from a kind`);
  return nested ? `Nested${name}` : name;
}

/** Whether a schema inside another one takes its nested form. */
export function hasNestedForm({ kinds }: Pick<Types, "kinds">, id: string): boolean {
  return id === objectMeta || kinds.has(id);
}

/** Returns what a property refers to, also through the `allOf` that has its description. */
export function referenceOf(schema: Schema): string | undefined {
  return (schema.$ref ?? schema.allOf?.[0]?.$ref)?.slice("#/components/schemas/".length);
}

/** Returns the required fields: those that the schema names, and structs that have such a field themselves. */
export function requiredFields(types: Types, id: string, seen: readonly string[] = []): Set<string> {
  const schema = types.schemas.get(id);
  const required = new Set(schema?.required);
  for (const [field, property] of Object.entries(schema?.properties ?? {})) {
    const target = referenceOf(property);
    if (!target || !isEmptyObject(property.default) || seen.includes(target) || hasNestedForm(types, target)) continue;
    if (requiredFields(types, target, [...seen, id]).size > 0) required.add(field);
  }
  return required;
}

export function isEmptyObject(value: unknown): boolean {
  return typeof value === "object" && value !== null && Object.keys(value).length === 0;
}

/** Declares a schema that is not a kind, or the nested form of one. */
export function declareType(types: Types, id: string, { nested, uses }: { nested: boolean; uses: Uses }): string {
  const hand = byHand.get(id);
  const schema = types.schemas.get(id)!;
  const name = typeName(types, id, nested);
  if (hand) return `${docstring(hand.docs, "")}export type ${name} = ${hand.type};\n`;
  const docs = nested
    ? `\`${types.names.get(id)}\` inside another object: everything is optional.`
    : schema.description;
  if (!schema.properties) return `${docstring(docs, "")}export type ${name} = { readonly [key: string]: unknown };\n`;
  const required = nested ? new Set<string>() : requiredFields(types, id);
  const kind = types.kinds.get(id);
  const fields = Object.entries(schema.properties)
    .filter(([field]) => !(id === objectMeta && serverOnly.has(field)))
    .map(([field, property]) => {
      const literal =
        kind && field === "apiVersion" ? kind.apiVersion : kind && field === "kind" ? kind.kind : undefined;
      if (literal) return `  readonly ${field}?: ${JSON.stringify(literal)} | undefined;\n`;
      const values = { required: required.has(field), nullable: nullable.has(`${id}.${field}`) };
      return declareField(types, { field, property, ...values, uses });
    });
  return `${docstring(docs, "")}export interface ${name} {\n${fields.join("")}}\n`;
}

export interface Field {
  readonly field: string;
  readonly property: Schema;
  readonly required: boolean;
  readonly nullable: boolean;
  readonly uses: Uses;
}

/** Returns one line of an interface, with its docstring. */
export function declareField(types: Types, { field, property, required, nullable: orNull, uses }: Field): string {
  const key = /^[A-Za-z_]\w*$/.test(field) ? field : JSON.stringify(field);
  const type = `${typeOf(types, property, uses)}${orNull ? " | null" : ""}`;
  const value = required || type === "unknown" ? type : `${type} | undefined`;
  return `${docstring(property.description, "  ")}  readonly ${key}${required ? "" : "?"}: ${value};\n`;
}

function typeOf(types: Types, schema: Schema, uses: Uses): string {
  const reference = referenceOf(schema);
  if (reference) return reference === `${extensions}.JSON` ? "unknown" : refer(types, reference, uses);
  switch (schema.type) {
    case "string":
      // Servers add values to enums, so a reader must expect others, and one type serves readers and writers.
      return schema.enum
        ? [...schema.enum.map((value) => JSON.stringify(value)), "(string & {})"].join(" | ")
        : "string";
    case "integer":
    case "number":
      return "number";
    case "boolean":
      return "boolean";
    case "array": {
      const item = typeOf(types, schema.items ?? {}, uses);
      return /^[\w.]+$/.test(item) ? `readonly ${item}[]` : `readonly (${item})[]`;
    }
    case "object":
      return `{ readonly [key: string]: ${typeOf(types, schema.additionalProperties ?? {}, uses)} }`;
    default:
      return "unknown";
  }
}

function refer(types: Types, id: string, uses: Uses): string {
  const own = imported.get(id);
  if (own) {
    uses.meta.add(own);
    return own;
  }
  uses.schemas.add(id);
  return typeName(types, id, hasNestedForm(types, id));
}

/** Returns every schema with a declaration to which the kinds lead, in the form in which it is used. */
export function reachable(
  schemas: ReadonlyMap<string, Schema>,
  kinds: ReadonlyMap<string, BuiltinKind>,
): { readonly types: ReadonlySet<string>; readonly nested: ReadonlySet<string> } {
  const types = new Set<string>();
  const nested = new Set<string>();
  const visit = (schema: Schema): void => {
    const id = referenceOf(schema);
    if (id) enter(id);
    if (schema.items) visit(schema.items);
    if (schema.additionalProperties) visit(schema.additionalProperties);
  };
  const enter = (id: string): void => {
    if (imported.has(id) || id === `${extensions}.JSON`) return;
    const set = hasNestedForm({ kinds }, id) ? nested : types;
    if (set.has(id)) return;
    set.add(id);
    if (!byHand.has(id)) fields(id).forEach(visit);
  };
  const fields = (id: string): Schema[] =>
    Object.entries(schemas.get(id)?.properties ?? {})
      .filter(([field]) => !(id === objectMeta && serverOnly.has(field)))
      .map(([, property]) => property);
  for (const id of kinds.keys()) {
    for (const property of fields(id)) if (referenceOf(property) !== objectMeta) visit(property);
  }
  // The hand-written unions refer to it.
  if ([...types].some((id) => id.startsWith(`${extensions}.JSONSchemaPropsOr`))) enter(`${extensions}.JSONSchemaProps`);
  // Reviews and bindings take it in place of a name.
  enter(objectMeta);
  return { types, nested };
}
