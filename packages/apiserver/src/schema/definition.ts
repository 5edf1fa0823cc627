/** Validates CustomResourceDefinitions. */
import { type FieldError, notSupported } from "../field-error.ts";
import type { Fields, KubeObject } from "../hooks.ts";
import { equalValues } from "../patch/typed-values.ts";
import { clientConfig } from "../validation/admissionregistration/client-config.ts";
import { Field } from "../validation/field.ts";
import { dns1035Label, dnsSubdomain } from "../validation/formats.ts";
import { schemaAt } from "./definition-rules.ts";
import { checkDefinitionSchema } from "./definition-schema.ts";
import { fieldsOf, listOf, textOf } from "./structural.ts";

/** Validates everything except the metadata that all objects have. `old` is given for an update. */
export function validateDefinition(crd: KubeObject, old?: KubeObject): FieldError[] {
  const spec = fieldsOf(crd.spec) ?? {};
  const names = fieldsOf(spec.names) ?? {};
  const errors: FieldError[] = [];
  const expected = 'must be spec.names.plural+"."+spec.group';
  for (const part of old ? [] : (["generateName", "name"] as const)) {
    const text = crd.metadata[part];
    if (text !== undefined && text !== `${textOf(names.plural)}.${textOf(spec.group)}`)
      errors.push({ type: "Invalid", field: `metadata.${part}`, badValue: text, detail: expected });
  }
  checkSpec(spec, errors);
  if (old) checkChange(spec, old, errors);
  checkStoredVersions(crd, errors, old === undefined);
  if (spec.preserveUnknownFields === true && hasDefaults(spec.versions)) {
    const detail = "must be false in order to use defaults in the schema";
    errors.push({ type: "Invalid", field: "spec.preserveUnknownFields", badValue: true, detail });
  }
  if (spec.preserveUnknownFields === true && fieldsOf(old?.spec)?.preserveUnknownFields !== true) {
    const detail =
      "cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead";
    errors.push({ type: "Invalid", field: "spec.preserveUnknownFields", badValue: true, detail });
  }
  errors.push(...approvalErrors(crd, spec, old));
  return errors;
}

/** Whether the schemas contain defaults. A property may also be named `default`, which does not count. */
function hasDefaults(value: unknown, isNames = false): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (!isNames && !Array.isArray(value) && "default" in value) return true;
  return Object.entries(value).some(
    ([name, inner]) => (isNames || !literals.has(name)) && hasDefaults(inner, !isNames && name === "properties"),
  );
}

/** Fields whose values are not schemas. */
const literals: ReadonlySet<string> = new Set(["default", "example", "enum"]);

function labelErrors(value: unknown, field: string, errors: FieldError[], prefix = ""): void {
  const text = textOf(value);
  const wrong = text === "" ? [] : dns1035Label(prefix === "" ? text : text.toLowerCase());
  if (wrong.length > 0) errors.push({ type: "Invalid", field, badValue: text, detail: prefix + wrong.join(",") });
}

function required(field: string, errors: FieldError[], detail = ""): void {
  errors.push({ type: "Required", field, detail });
}

function checkSpec(spec: Fields, errors: FieldError[]): void {
  const invalid = (field: string, badValue: unknown, detail: string): void =>
    void errors.push({ type: "Invalid", field, badValue, detail });
  const group = textOf(spec.group);
  if (group === "") required("spec.group", errors);
  else if (dnsSubdomain(group).length > 0) invalid("spec.group", group, dnsSubdomain(group).join(","));
  else if (!group.includes(".")) invalid("spec.group", group, "should be a domain with at least one dot");
  checkEnum(spec.scope, "spec.scope", { errors, valid: ["Cluster", "Namespaced"] });
  const versions = listOf(spec.versions);
  for (const [index, version] of versions.entries()) {
    if (!fieldsOf(fieldsOf(version.schema)?.openAPIV3Schema)) {
      required(`spec.versions[${index}].schema.openAPIV3Schema`, errors);
    }
  }
  // The server stores the fields that all versions share in one place, and its errors name that place.
  const common = (name: string): boolean =>
    versions.length > 0 && versions.every((version) => equalValues(version[name], versions[0]![name]));
  for (const [index, version] of versions.entries()) {
    checkVersion(version, { path: `spec.versions[${index}]`, common, errors });
  }
  if (new Set(versions.map(({ name }) => name)).size < versions.length) {
    errors.push({ ...manyVersions, badValue: spec.versions ?? null, detail: "must contain unique version names" });
  }
  if (versions.filter(({ storage }) => storage === true).length !== 1) {
    errors.push({
      ...manyVersions,
      badValue: spec.versions ?? null,
      detail: "must have exactly one version marked as storage version",
    });
  }
  labelErrors(versions[0]?.name, "spec.version", errors);
  checkNames(fieldsOf(spec.names) ?? {}, errors);
  if (versions[0]) checkCommon(versions[0], { common, errors });
  checkConversion(fieldsOf(spec.conversion), errors);
}

const manyVersions = { type: "Invalid", field: "spec.versions" } as const;

interface EnumOptions {
  readonly valid: readonly string[];
  readonly errors: FieldError[];
}

function checkEnum(value: unknown, field: string, { valid, errors }: EnumOptions): void {
  if (textOf(value) === "") required(field, errors);
  else if (!valid.includes(textOf(value))) errors.push(notSupported(field, value, { valid }));
}

interface VersionPlace {
  readonly path: string;
  readonly common: (name: string) => boolean;
  readonly errors: FieldError[];
}

function checkVersion(version: Fields, { path, common, errors }: VersionPlace): void {
  const name = textOf(version.name);
  const wrong = dns1035Label(name).join(",");
  if (wrong !== "") errors.push({ type: "Invalid", field: `${path}.name`, badValue: name, detail: wrong });
  const warning = version.deprecationWarning;
  if (typeof warning === "string") {
    for (const detail of warningErrors(version.deprecated === true, warning)) {
      errors.push({ type: "Invalid", field: `${path}.deprecationWarning`, badValue: warning, detail });
    }
  }
  const hasStatus = fieldsOf(fieldsOf(version.subresources)?.status) !== undefined;
  const schema = fieldsOf(fieldsOf(version.schema)?.openAPIV3Schema);
  if (schema && !common("schema")) {
    errors.push(...checkDefinitionSchema(schema, { path: `${path}.schema.openAPIV3Schema`, hasStatus }));
  }
  if (!common("subresources")) checkSubresources(version.subresources, `${path}.subresources`, errors);
  if (!common("additionalPrinterColumns")) {
    checkColumns(version.additionalPrinterColumns, `${path}.additionalPrinterColumns`, errors);
  }
  if (!common("selectableFields")) {
    checkSelectable(listOf(version.selectableFields), { path: `${path}.selectableFields`, schema, errors });
  }
}

function warningErrors(deprecated: boolean, warning: string): string[] {
  if (!deprecated) return ["can only be set for deprecated versions"];
  const errors = [];
  if (Buffer.byteLength(warning) > 256) errors.push("must be <= 256 characters long");
  if (warning === "") errors.push("must not be an empty string");
  return errors;
}

function checkCommon(first: Fields, { common, errors }: Omit<VersionPlace, "path">): void {
  const schema = fieldsOf(fieldsOf(first.schema)?.openAPIV3Schema);
  const hasStatus = fieldsOf(fieldsOf(first.subresources)?.status) !== undefined;
  if (schema && common("schema")) {
    errors.push(...checkDefinitionSchema(schema, { path: "spec.validation.openAPIV3Schema", hasStatus }));
  }
  if (common("subresources")) checkSubresources(first.subresources, "spec.subresources", errors);
  if (common("additionalPrinterColumns")) {
    checkColumns(first.additionalPrinterColumns, "spec.additionalPrinterColumns", errors);
  }
  if (common("selectableFields")) {
    const path = "spec.selectableFields";
    const detail = "may only be set when validations.schema is included";
    // When all versions share the schema, errors about a shared field name that schema.
    const shared = common("schema") ? schema : undefined;
    if (shared === undefined && listOf(first.selectableFields).length > 0)
      errors.push({ type: "Invalid", field: path, badValue: "", detail });
    else checkSelectable(listOf(first.selectableFields), { path, schema: shared, errors });
  }
}

function checkNames(names: Fields, errors: FieldError[]): void {
  for (const name of ["plural", "singular", "kind", "listKind"]) {
    if (textOf(names[name]) === "") required(`spec.names.${name}`, errors);
  }
  labelErrors(names.plural, "spec.names.plural", errors);
  labelErrors(names.singular, "spec.names.singular", errors);
  const mixed = "may have mixed case, but should otherwise match: ";
  labelErrors(names.kind, "spec.names.kind", errors, mixed);
  labelErrors(names.listKind, "spec.names.listKind", errors, mixed);
  listedNames(names, "shortNames", errors);
  if (textOf(names.kind) !== "" && names.kind === names.listKind) {
    const detail = "kind and listKind may not be the same";
    errors.push({ type: "Invalid", field: "spec.names.listKind", badValue: names.listKind, detail });
  }
  listedNames(names, "categories", errors);
}

function listedNames(names: Fields, list: "shortNames" | "categories", errors: FieldError[]): void {
  for (const [index, name] of (listOf(names[list]) as unknown as string[]).entries()) {
    const field = `spec.names.${list}[${index}]`;
    if (textOf(name) === "") errors.push({ type: "Invalid", field, badValue: "", detail: dns1035Label("").join(",") });
    else labelErrors(name, field, errors);
  }
}

/** Validates a path such as `.spec.replicas`, with which scales and columns name fields. */
function pathErrors(
  path: string,
  field: string,
  { roots, detail }: { roots: readonly string[]; detail: string },
): FieldError[] {
  const invalid = (what: string): FieldError[] => [{ type: "Invalid", field, badValue: path, detail: what }];
  if (!path.startsWith(".")) return invalid("must be a simple json path starting with .");
  return roots.length === 0 || roots.some((root) => path.startsWith(root)) ? [] : invalid(detail);
}

function checkSubresources(subresources: unknown, path: string, errors: FieldError[]): void {
  const scale = fieldsOf(fieldsOf(subresources)?.scale);
  if (!scale) return;
  for (const [name, root] of [
    ["specReplicasPath", "spec"],
    ["statusReplicasPath", "status"],
  ] as const) {
    const field = `${path}.scale.${name}`;
    const value = textOf(scale[name]);
    const rule = { roots: [`.${root}.`], detail: `should be a json path under .${root}` };
    if (value === "") required(field, errors);
    else errors.push(...pathErrors(value, field, rule));
  }
  const selector = textOf(scale.labelSelectorPath);
  if (selector === "") return;
  const rule = { roots: [".spec.", ".status."], detail: "should be a json path under either .spec or .status" };
  errors.push(...pathErrors(selector, `${path}.scale.labelSelectorPath`, rule));
}

const columnTypes = ["boolean", "date", "integer", "number", "string"];
const columnFormats = ["byte", "date", "date-time", "double", "float", "int32", "int64", "password"];

function checkColumns(columns: unknown, path: string, errors: FieldError[]): void {
  for (const [index, column] of listOf(columns).entries()) {
    const at = `${path}[${index}]`;
    const oneOf = (values: readonly string[]): string => `must be one of ${values.join(",")}`;
    if (textOf(column.name) === "") required(`${at}.name`, errors);
    const [type, format, jsonPath] = [textOf(column.type), textOf(column.format), textOf(column.jsonPath)];
    if (type === "") required(`${at}.type`, errors, oneOf(columnTypes));
    else if (!columnTypes.includes(type)) {
      errors.push({ type: "Invalid", field: `${at}.type`, badValue: type, detail: oneOf(columnTypes) });
    }
    if (format !== "" && !columnFormats.includes(format)) {
      errors.push({ type: "Invalid", field: `${at}.format`, badValue: format, detail: oneOf(columnFormats) });
    }
    if (jsonPath === "") required(`${at}.JSONPath`, errors);
    else errors.push(...pathErrors(jsonPath, `${at}.JSONPath`, { roots: [], detail: "" }));
  }
}

interface SelectablePlace {
  readonly path: string;
  readonly schema: Fields | undefined;
  readonly errors: FieldError[];
}

function checkSelectable(fields: readonly Fields[], { path, schema, errors }: SelectablePlace): void {
  const seen = new Set<string>();
  for (const [index, { jsonPath }] of fields.entries()) {
    const field = `${path}[${index}].jsonPath`;
    const text = textOf(jsonPath);
    const invalid = (detail: string): void => void errors.push({ type: "Invalid", field, badValue: text, detail });
    if (text === "") {
      required(field, errors);
      continue;
    }
    const target = schema && !text.includes("[") ? schemaAt(schema, text) : undefined;
    if (!target) {
      invalid(`is an invalid path: ${pathMistake(text)}`);
      continue;
    }
    if (text.startsWith(".metadata.")) invalid("must not point to fields in metadata");
    if (!["string", "boolean", "integer"].includes(textOf(target.type))) {
      invalid(
        "must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed.",
      );
    }
    if (seen.has(text)) errors.push({ type: "Duplicate", field, badValue: text, detail: "" });
    seen.add(text);
  }
  if (seen.size > 8) {
    errors.push({ type: "TooMany", field: path, badValue: seen.size, detail: "must have at most 8 items" });
  }
}

function pathMistake(path: string): string {
  if (path.includes("[")) return "array notation is not allowed";
  if (!path.startsWith(".")) return `expected [ or . but got: ${path.split(/[.[\]]/)[0]}`;
  return "does not refer to a valid field";
}

function checkConversion(conversion: Fields | undefined, errors: FieldError[]): void {
  if (!conversion) return;
  checkEnum(conversion.strategy, "spec.conversion.strategy", { errors, valid: ["None", "Webhook"] });
  const webhook = fieldsOf(conversion.webhook);
  const client = fieldsOf(webhook?.clientConfig);
  const versions = listOf(webhook?.conversionReviewVersions) as unknown as string[];
  const at = "spec.conversion.webhookClientConfig";
  const versionsAt = "spec.conversion.conversionReviewVersions";
  if (conversion.strategy !== "Webhook") {
    const detail = "should not be set when strategy is not set to Webhook";
    if (client) errors.push({ type: "Forbidden", field: at, detail });
    if (versions.length > 0) errors.push({ type: "Forbidden", field: versionsAt, detail });
    return;
  }
  if (!client) required(at, errors, "required when strategy is set to Webhook");
  else clientConfig(new Field(at, client, { errors }));
  if (versions.length === 0) return required(versionsAt, errors);
  for (const [index, version] of versions.entries()) {
    const field = `${versionsAt}[${index}]`;
    if (versions.indexOf(version) < index) {
      errors.push({ type: "Invalid", field, badValue: version, detail: "duplicate version" });
    } else {
      for (const detail of dns1035Label(version)) errors.push({ type: "Invalid", field, badValue: version, detail });
    }
  }
  if (!versions.includes("v1") && !versions.includes("v1beta1")) {
    const detail = "must include at least one of v1, v1beta1";
    errors.push({ type: "Invalid", field: versionsAt, badValue: versions, detail });
  }
}

function checkChange(spec: Fields, old: KubeObject, errors: FieldError[]): void {
  const before = fieldsOf(old.spec) ?? {};
  const conditions = listOf(fieldsOf(old.status)?.conditions);
  const established = conditions.some(({ type, status }) => type === "Established" && status === "True");
  const names = (of: Fields, name: string): unknown => fieldsOf(of.names)?.[name];
  const immutable = (field: string, now: unknown, then: unknown): void => {
    if (!equalValues(now, then)) {
      errors.push({ type: "Invalid", field, badValue: now ?? null, detail: "field is immutable" });
    }
  };
  if (established) {
    immutable("spec.scope", spec.scope, before.scope);
    immutable("spec.names.kind", names(spec, "kind"), names(before, "kind"));
  }
  immutable("spec.group", spec.group, before.group);
  immutable("spec.names.plural", names(spec, "plural"), names(before, "plural"));
}

function checkStoredVersions(crd: KubeObject, errors: FieldError[], isNew: boolean): void {
  const versions = listOf(fieldsOf(crd.spec)?.versions);
  const storedVersions = listOf(fieldsOf(crd.status)?.storedVersions) as unknown as string[];
  const storing = versions.filter(({ storage }) => storage === true).map(({ name }) => textOf(name));
  const stored = isNew ? storing.slice(0, 1) : storedVersions;
  const field = "status.storedVersions";
  if (stored.length === 0) {
    errors.push({ type: "Invalid", field, badValue: null, detail: "must have at least one stored version" });
    return;
  }
  const left = new Set(stored);
  for (const { name, storage } of versions) {
    if (storage === true && !left.delete(textOf(name))) {
      const detail = `must have the storage version ${textOf(name)}`;
      errors.push({ type: "Invalid", field, badValue: stored, detail });
    }
  }
  for (const [index, name] of stored.entries()) {
    if (versions.some((version) => version.name === name)) continue;
    const detail = `missing from spec.versions; ${name} was previously a storage version, and must remain in spec.versions until a storage migration ensures no data remains persisted in ${name} and removes ${name} from status.storedVersions`;
    errors.push({ type: "Invalid", field: `${field}[${index}]`, badValue: name, detail });
  }
}

const approval = "api-approved.kubernetes.io";

function approvalErrors(crd: KubeObject, spec: Fields, old: KubeObject | undefined): FieldError[] {
  const group = textOf(spec.group);
  if (!/(^|\.)(k8s|kubernetes)\.io$/.test(group)) return [];
  const value = crd.metadata.annotations?.[approval];
  if (old && old.metadata.annotations?.[approval] === value) return [];
  const field = `metadata.annotations[${approval}]`;
  if (value === undefined || value === "") {
    const detail =
      'protected groups must have approval annotation "api-approved.kubernetes.io", see https://github.com/kubernetes/enhancements/pull/1111';
    return [{ type: "Required", field, detail }];
  }
  if (value.startsWith("unapproved") || /^[a-z]+:\/\/[^/]+/.test(value)) return [];
  const detail = `protected groups must have approval annotation "${approval}" with either a URL or a reason starting with "unapproved", see https://github.com/kubernetes/enhancements/pull/1111`;
  return [{ type: "Invalid", field, badValue: value, detail }];
}
