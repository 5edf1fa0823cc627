/**
 * Validates complete objects inside custom objects. @see
 * https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/#rawextension
 */
import type { FieldError } from "../field-error.ts";
import type { KindRow } from "../hooks.ts";
import type { Schema } from "../schema/schema.ts";
import { Field } from "./field.ts";
import { dns1035Label, pathSegment } from "./formats.ts";
import { validateMetadata } from "./metadata.ts";

type Fields = Readonly<Record<string, unknown>>;

/** Returns the errors in kind, version and metadata of embedded objects. */
export function validateEmbedded(schema: Schema, value: unknown, path = ""): FieldError[] {
  const errors: FieldError[] = [];
  visit(schema, value, { path, errors });
  return errors;
}

interface Place {
  readonly path: string;
  readonly errors: FieldError[];
}

function visit(schema: Schema, value: unknown, { path, errors }: Place): void {
  if (schema.go || typeof value !== "object" || value === null) return;
  if (Array.isArray(value)) {
    if (!schema.items) return;
    for (const [index, item] of value.entries()) visit(schema.items, item, { path: `${path}[${index}]`, errors });
    return;
  }
  if (schema.embedded && path !== "") checkObject(value as Fields, { path, errors });
  for (const [name, field] of Object.entries(value)) {
    const property = schema.properties?.get(name);
    if (property) visit(property, field, { path: path === "" ? name : `${path}.${name}`, errors });
    else if (schema.additional) visit(schema.additional, field, { path: `${path}[${name}]`, errors });
  }
}

function checkObject(fields: Fields, { path, errors }: Place): void {
  const { apiVersion, kind, metadata } = fields;
  const wrong = (name: string, badValue: unknown, detail: string): void =>
    void errors.push({ type: "Invalid", field: `${path}.${name}`, badValue, detail });
  if (apiVersion === "") wrong("apiVersion", apiVersion, "must not be empty");
  else if (typeof apiVersion === "string" && apiVersion.split("/").length > 2)
    wrong("apiVersion", apiVersion, `unexpected GroupVersion string: ${apiVersion}`);
  if (kind === "") wrong("kind", kind, "must not be empty");
  else if (typeof kind === "string") {
    const problems = dns1035Label(kind.toLowerCase());
    if (problems.length > 0)
      wrong("kind", kind, `may have mixed case, but should otherwise match: ${problems.join(",")}`);
  }
  if (typeof metadata !== "object" || metadata === null) return;
  const { name, namespace } = metadata as { name?: string; namespace?: string };
  const row = { custom: true, group: "", kind: "", namespaced: Boolean(namespace), plural: "" } as unknown as KindRow;
  const found: FieldError[] = [];
  const root = new Field(path, { metadata: { ...metadata, name: name || "fakename" } }, { errors: found, row });
  validateMetadata(root.at("metadata"), { row, format: pathSegment });
  errors.push(...found);
}
