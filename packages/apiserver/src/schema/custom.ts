/** Builds schemas of custom resources from `openAPIV3Schema`. */
import type { Fields, KindRow } from "../hooks.ts";
import { builtInSchema } from "../tables/tables.ts";
import { goRegExp } from "./go-regexp.ts";
import type { CelRule, Schema, SchemaType, ValueRules } from "./schema.ts";

const bare: Schema = {
  type: "",
  format: undefined,
  nullable: false,
  properties: undefined,
  additional: undefined,
  items: undefined,
  required: [],
  enum: undefined,
  default: undefined,
  intOrString: false,
  preserveUnknown: false,
  embedded: false,
  listType: undefined,
  listKeys: [],
  mapType: undefined,
  patchStrategies: [],
  patchMergeKey: undefined,
  go: undefined,
  values: undefined,
};

const text: Schema = { ...bare, type: "string" };

/** Builds the schema of a custom resource with the apiVersion, kind and metadata that every object has. */
export function customSchema(openAPIV3Schema: Fields, row: Pick<KindRow, "kind">): Schema {
  const schema = schemaOf(openAPIV3Schema);
  return { ...withObjectFields(schema), type: schema.type || "object", embedded: row.kind !== "" };
}

/** Required fields of an embedded object; the server checks those of the outer object itself. */
const mustHave = ["apiVersion", "kind"];

/** Returns the schema of every object's metadata. */
export function objectMetaSchema(): Schema {
  return builtInSchema({ group: "", version: "v1", kind: "ConfigMap" })!.properties!.get("metadata")!;
}

function withObjectFields(schema: Schema): Schema {
  const properties = new Map(schema.properties);
  for (const name of ["apiVersion", "kind"]) properties.set(name, { ...text, values: properties.get(name)?.values });
  properties.set("metadata", metadataSchema(schema.properties?.get("metadata")));
  return { ...schema, properties };
}

/** Takes over what the definition says about names, which is all of the metadata that it may restrict. */
function metadataSchema(restricted: Schema | undefined): Schema {
  const meta = objectMetaSchema();
  if (!restricted?.properties) return meta;
  return { ...meta, properties: new Map([...meta.properties!, ...restricted.properties]), go: undefined };
}

/** Converts one level of `openAPIV3Schema` and everything below it. */
export function schemaOf(props: Fields): Schema {
  const embedded = props["x-kubernetes-embedded-resource"] === true;
  const schema: Schema = {
    ...bare,
    type: typeOf(props),
    format: asText(props.format),
    nullable: props.nullable === true,
    properties: mapOf(props.properties),
    additional: additionalOf(props.additionalProperties),
    items: isFields(props.items) ? schemaOf(props.items) : undefined,
    required: (props.required ?? []) as readonly string[],
    enum: props.enum as readonly unknown[] | undefined,
    default: props.default,
    intOrString: props["x-kubernetes-int-or-string"] === true,
    preserveUnknown: props["x-kubernetes-preserve-unknown-fields"] === true,
    embedded,
    listType: props["x-kubernetes-list-type"] as Schema["listType"],
    listKeys: (props["x-kubernetes-list-map-keys"] ?? []) as readonly string[],
    mapType: props["x-kubernetes-map-type"] as Schema["mapType"],
    values: valuesOf(props),
  };
  return embedded ? withObjectFields({ ...schema, required: [...schema.required, ...mustHave] }) : schema;
}

function typeOf(props: Fields): SchemaType {
  return (asText(props.type) ?? "") as SchemaType;
}

function asText(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function mapOf(properties: unknown): ReadonlyMap<string, Schema> | undefined {
  if (!isFields(properties) || Object.keys(properties).length === 0) return undefined;
  return new Map(Object.entries(properties).map(([name, props]) => [name, schemaOf((props ?? {}) as Fields)]));
}

function additionalOf(additional: unknown): Schema | undefined {
  if (additional === true) return { ...bare, preserveUnknown: true };
  return isFields(additional) ? schemaOf(additional) : undefined;
}

const plain = [
  "minLength",
  "maxLength",
  "minimum",
  "exclusiveMinimum",
  "maximum",
  "exclusiveMaximum",
  "multipleOf",
  "minItems",
  "maxItems",
  "uniqueItems",
  "minProperties",
  "maxProperties",
] as const;

function valuesOf(props: Fields): ValueRules | undefined {
  const rules: Record<string, unknown> = {};
  for (const name of plain) {
    const value = props[name];
    if (value !== undefined && value !== null) rules[name] = typeof value === "bigint" ? Number(value) : value;
  }
  const pattern = asText(props.pattern);
  if (pattern !== undefined) {
    rules.patternText = pattern;
    rules.pattern = goRegExp(pattern);
  }
  for (const name of ["allOf", "anyOf", "oneOf"]) {
    const list = props[name] as readonly Fields[] | undefined;
    if (list && list.length > 0) rules[name] = list.map(schemaOf);
  }
  if (isFields(props.not)) rules.not = schemaOf(props.not);
  const validations = props["x-kubernetes-validations"] as readonly CelRule[] | undefined;
  if (validations && validations.length > 0) rules.rules = validations;
  return Object.keys(rules).length === 0 ? undefined : rules;
}
