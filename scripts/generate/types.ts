/** Schemas as TypeScript: wire names, times as strings, `readonly` written out, one type for reading and writing. */
import { docstring } from "./description.ts";
import type { Schema } from "./documents.ts";
import type { BuiltinKind } from "./kinds.ts";

const objectMeta = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta";
const extensions = "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1";

/** What the documents cannot say: by schema name, the type and its docstring. */
const byHand: ReadonlyMap<string, { readonly type: string; readonly docs: string }> = new Map([
  ["io.k8s.apimachinery.pkg.apis.meta.v1.Time", { type: "string", docs: "RFC 3339, to the second." }],
  ["io.k8s.apimachinery.pkg.apis.meta.v1.MicroTime", { type: "string", docs: "RFC 3339, to the microsecond." }],
  [
    "io.k8s.apimachinery.pkg.api.resource.Quantity",
    { type: "string | number", docs: 'Such as `"500m"`, `"1Gi"` or 2; the server answers with a string.' },
  ],
  [
    "io.k8s.apimachinery.pkg.util.intstr.IntOrString",
    { type: "number | string", docs: 'A number, or a name or percentage such as `"25%"`.' },
  ],
  [
    "io.k8s.apimachinery.pkg.runtime.RawExtension",
    { type: "{ readonly [key: string]: unknown }", docs: "An object of a kind known elsewhere." },
  ],
  [`${extensions}.JSON`, { type: "unknown", docs: "Any JSON value." }],
  [
    `${extensions}.JSONSchemaPropsOrArray`,
    { type: "JSONSchemaProps | readonly JSONSchemaProps[]", docs: "One schema, or one for each item." },
  ],
  [
    `${extensions}.JSONSchemaPropsOrBool`,
    { type: "JSONSchemaProps | boolean", docs: "A schema, or whether anything is allowed." },
  ],
  [
    `${extensions}.JSONSchemaPropsOrStringArray`,
    { type: "JSONSchemaProps | readonly string[]", docs: "A schema, or names of properties." },
  ],
]);

/** Schemas that have a hand-written type in `src/resource/meta.ts`. */
const imported: ReadonlyMap<string, string> = new Map([
  ["io.k8s.apimachinery.pkg.apis.meta.v1.Condition", "Condition"],
  ["io.k8s.apimachinery.pkg.apis.meta.v1.OwnerReference", "OwnerReference"],
]);

/** Of nested metadata: nobody writes these, and templates do not carry them. */
const serverOnly = new Set(["managedFields", "selfLink"]);

/** What one file needs from elsewhere. */
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

/** The TypeScript name of a schema; a kind inside another one has a form of its own, with everything optional. */
export function typeName({ names }: Pick<Types, "names">, id: string, nested: boolean): string {
  const name = names.get(id);
  if (!name) throw new Error(`the schema ${id} is not reachable from a kind`);
  return nested ? `Nested${name}` : name;
}

/** Whether a schema inside another one takes its nested form. */
export function hasNestedForm({ kinds }: Pick<Types, "kinds">, id: string): boolean {
  return id === objectMeta || kinds.has(id);
}

/** What a property points at, also through the `allOf` that carries its description. */
export function referenceOf(schema: Schema): string | undefined {
  return (schema.$ref ?? schema.allOf?.[0]?.$ref)?.slice("#/components/schemas/".length);
}

/** The fields that must be there: those the schema names, and structs that have such a field themselves. */
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

/** The declaration of a schema that is not a kind, or of the nested form of one. */
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
      return declareField(types, { field, property, required: required.has(field), uses });
    });
  return `${docstring(docs, "")}export interface ${name} {\n${fields.join("")}}\n`;
}

/** One line of an interface, with its docstring. */
export function declareField(
  types: Types,
  { field, property, required, uses }: { field: string; property: Schema; required: boolean; uses: Uses },
): string {
  const key = /^[A-Za-z_]\w*$/.test(field) ? field : JSON.stringify(field);
  const type = typeOf(types, property, uses);
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

/** Every schema that the kinds lead to and that has a declaration, in the form in which it is used. */
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
  // The hand-written unions name it.
  if ([...types].some((id) => id.startsWith(`${extensions}.JSONSchemaPropsOr`))) enter(`${extensions}.JSONSchemaProps`);
  // Reviews and bindings take it in place of a name.
  enter(objectMeta);
  return { types, nested };
}
