/** Generates the TypeScript of a kind: the types for reading and writing, and its handle. */
import { nullable, objectMeta } from "./by-hand.ts";
import { docstring } from "../../src/cli/docstring.ts";
import type { BuiltinKind } from "./kinds.ts";
import { declareField, isEmptyObject, referenceOf, requiredFields, type Types, type Uses } from "./types.ts";

/** Declares the interfaces `<Kind>` and `<Kind>Input` and, for a served kind, the handle `<Kind>`. */
export function declareKind(types: Types, kind: BuiltinKind, uses: Uses): string {
  const name = types.names.get(kind.id)!;
  const literals = { apiVersion: JSON.stringify(kind.apiVersion), kind: JSON.stringify(kind.kind) };
  const { description } = types.schemas.get(kind.id)!;
  const meta = kind.served && kind.served.scope === "Namespaced" ? "NamespacedMeta" : "ObjectMeta";
  uses.meta.add(meta);
  const read =
    `${docstring(description, "")}export interface ${name} {\n` +
    `  readonly apiVersion: ${literals.apiVersion};\n  readonly kind: ${literals.kind};\n` +
    `  readonly metadata: ${meta};\n${fields(types, { kind, form: "read", uses })}}\n`;
  const write =
    `/** {@link ${name}} as it is written. */\nexport interface ${name}Input {\n` +
    `  readonly metadata: ${inputMeta(types, kind, uses)};\n${fields(types, { kind, form: "write", uses })}}\n`;
  return [read, write, ...(kind.served ? [declareHandle(types, kind)] : [])].join("\n");
}

function inputMeta(types: Types, kind: BuiltinKind, uses: Uses): string {
  if (kind.named) {
    uses.meta.add("MetaInput");
    return "MetaInput";
  }
  uses.schemas.add(objectMeta);
  return `Nested${types.names.get(objectMeta)}`;
}

function fields(types: Types, { kind, form, uses }: { kind: BuiltinKind; form: "read" | "write"; uses: Uses }): string {
  const schema = types.schemas.get(kind.id)!;
  const required = requiredFields(types, kind.id);
  let lines = "";
  for (const [field, property] of Object.entries(schema.properties ?? {})) {
    if (field === "apiVersion" || field === "kind" || field === "metadata") continue;
    if (field === "status" && form === "write") continue;
    const target = referenceOf(property);
    const needed =
      field === "spec" && target
        ? form === "read"
          ? required.has(field) || isEmptyObject(property.default)
          : requiredFields(types, target).size > 0
        : field !== "status" && required.has(field);
    lines += declareField(types, {
      field,
      // The description appears only in the type for reading.
      property: form === "read" ? property : { ...property, description: "" },
      required: needed,
      nullable: form === "read" && nullable.has(`${kind.id}.${field}`),
      uses,
    });
  }
  return lines;
}

function declareHandle(types: Types, kind: BuiltinKind): string {
  const { scope, plural, subresources } = kind.served!;
  const name = types.names.get(kind.id)!;
  const statusId = referenceOf(types.schemas.get(kind.id)?.properties?.["status"] ?? {});
  const status = statusId ? types.names.get(statusId)! : "unknown";
  const literals = `${JSON.stringify(kind.apiVersion)}, ${JSON.stringify(kind.kind)}, ${JSON.stringify(scope)}`;
  return (
    `export const ${name}: Resource<BuiltinShape<${literals}, ${name}, ${name}Input, ${status}>> = handle({\n` +
    `  apiVersion: ${JSON.stringify(kind.apiVersion)},\n  kind: ${JSON.stringify(kind.kind)},\n` +
    `  scope: ${JSON.stringify(scope)},\n  plural: ${JSON.stringify(plural)},\n` +
    `  subresources: [${subresources.map((subresource) => JSON.stringify(subresource)).join(", ")}],\n});\n`
  );
}
