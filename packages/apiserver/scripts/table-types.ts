/** The types of the built-in kinds in the compact form that `packages/apiserver/src/tables/table-type.ts` describes. */
import type { FieldRow, TypeRow, TypeTable } from "../src/tables/table-type.ts";
import type { GoField, GoType } from "./go-types.ts";

type Json = Readonly<Record<string, unknown>>;

const prefix = "#/components/schemas/";

/** Go types that decode themselves, for which the schema does not say what they accept. */
const leaves: Readonly<Record<string, string>> = {
  "io.k8s.apimachinery.pkg.api.resource.Quantity": "quantity",
  "io.k8s.apimachinery.pkg.apis.meta.v1.FieldsV1": "fieldsV1",
  "io.k8s.apimachinery.pkg.apis.meta.v1.MicroTime": "microTime",
  "io.k8s.apimachinery.pkg.apis.meta.v1.Time": "time",
  "io.k8s.apimachinery.pkg.runtime.RawExtension": "raw",
  "io.k8s.apimachinery.pkg.util.intstr.IntOrString": "intOrString",
  "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSON": "json",
  "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaPropsOrArray": "schemaOrArray",
  "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaPropsOrBool": "schemaOrBool",
  "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaPropsOrStringArray": "schemaOrStrings",
};

export function typeTable(
  schemas: ReadonlyMap<string, Json>,
  { go, kinds }: { readonly go: ReadonlyMap<string, GoType>; readonly kinds: ReadonlySet<string> },
): TypeTable {
  const ids = [...schemas.keys()].filter((id) => go.has(id)).toSorted();
  const numbers = new Map(ids.map((id, index) => [id, index]));
  const types = ids.map((id) => typeRow(schemas.get(id)!, { id, go: go.get(id)!, numbers }));
  const byKind: Record<string, number> = {};
  for (const [index, id] of ids.entries()) {
    for (const gvk of (schemas.get(id)!["x-kubernetes-group-version-kind"] ?? []) as GroupVersionKind[]) {
      const key = `${gvk.group}/${gvk.version}/${gvk.kind}`;
      if (kinds.has(key) || !gvk.kind.endsWith("Options")) byKind[key] ??= index;
    }
  }
  return { types, kinds: byKind };
}

interface GroupVersionKind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

interface Place {
  readonly id: string;
  readonly go: GoType;
  readonly numbers: ReadonlyMap<string, number>;
}

function typeRow(schema: Json, { id, go, numbers }: Place): TypeRow {
  const properties = (schema.properties ?? {}) as Record<string, Json>;
  const leaf = leaves[id];
  if (go.own && !leaf) throw new Error(`${id} decodes itself: say how in packages/apiserver/scripts/table-types.ts`);
  return {
    n: go.name,
    // This is the order in Go, in which the server encodes.
    f: Object.fromEntries(
      go.fields.map((field) => [field.name, fieldRow(properties[field.name] ?? {}, numbers, field)]),
    ),
    ...optional("m", schema["x-kubernetes-map-type"]),
    ...optional("q", schema.required),
    ...optional("s", leaf),
  };
}

function fieldRow(schema: Json, numbers: ReadonlyMap<string, number>, go?: GoField): FieldRow {
  const reference = referenceOf(schema);
  const type = go?.type.replace(/^\*/, "");
  const own = reference === undefined ? { t: short[String(schema.type)] ?? "" } : { r: numbers.get(reference)! };
  return {
    ...own,
    ...optional("f", schema.format),
    ...(schema.items ? { i: fieldRow(schema.items as Json, numbers) } : {}),
    ...(typeof schema.additionalProperties === "object"
      ? { a: fieldRow(schema.additionalProperties as Json, numbers) }
      : {}),
    ...optional("d", schema.default),
    ...optional("e", schema.enum),
    ...optional("l", schema["x-kubernetes-list-type"]),
    ...optional("k", schema["x-kubernetes-list-map-keys"]),
    ...optional("m", schema["x-kubernetes-map-type"]),
    ...optional("p", schema["x-kubernetes-patch-strategy"]),
    ...optional("g", schema["x-kubernetes-patch-merge-key"]),
    ...(go && type !== plain(schema) ? { x: type! } : {}),
    ...(go?.type.startsWith("*") ? { y: 1 as const } : {}),
    ...(go?.omitEmpty || go?.omitZero ? { o: go.omitZero ? (2 as const) : (1 as const) } : {}),
  };
}

const short: Readonly<Record<string, FieldRow["t"]>> = {
  string: "s",
  integer: "i",
  number: "n",
  boolean: "b",
  array: "a",
  object: "o",
};

/** Returns the Go type that follows from the JSON type. */
function plain({ type, format }: Json): string | undefined {
  if (type === "string" && format === undefined) return "string";
  if (type === "boolean") return "bool";
  return type === "integer" ? String(format) : undefined;
}

function referenceOf(schema: Json): string | undefined {
  const reference = schema.$ref ?? (schema.allOf as Json[] | undefined)?.[0]?.$ref;
  return typeof reference === "string" ? reference.slice(prefix.length) : undefined;
}

function optional<K extends string>(key: K, value: unknown): Record<K, never> | Record<string, never> {
  return value === undefined ? {} : ({ [key]: value } as Record<K, never>);
}
