/**
 * Checks whether a schema is structural: a schema below a logical junctor may only restrict fields that are declared
 * outside of it.
 */
import { errorText, type FieldError } from "../field-error.ts";
import type { Fields } from "../hooks.ts";
import { goRegExpError } from "./go-regexp.ts";
import { equalValues } from "../patch/typed-values.ts";

type Level = "root" | "item" | "field";

/**
 * Returns the errors of a definition's schema, sorted by their text. @see
 * https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/#specifying-a-structural-schema
 */
export function checkStructural(schema: Fields, path: string): FieldError[] {
  const errors: FieldError[] = [];
  invariants(schema, { path, level: "root", errors });
  complete(schema, { at: schema, path, within: path, errors });
  return errors
    .map((error) => [errorText(error), error] as const)
    .toSorted(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
    .map(([, error]) => error);
}

export function fieldsOf(value: unknown): Fields | undefined {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Fields) : undefined;
}

export function entriesOf(value: unknown): [string, Fields][] {
  return Object.entries(fieldsOf(value) ?? {}) as [string, Fields][];
}

export function listOf(value: unknown): readonly Fields[] {
  return Array.isArray(value) ? (value as Fields[]) : [];
}

export function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

interface Place {
  readonly path: string;
  readonly level: Level;
  readonly errors: FieldError[];
}

const emptyType: Readonly<Record<Level, string>> = {
  root: "must not be empty at the root",
  item: "must not be empty for specified array items",
  field: "must not be empty for specified object fields",
};

function invariants(schema: Fields, { path, level, errors }: Place): void {
  const type = textOf(schema.type);
  const required = (field: string, detail: string): void => void errors.push({ type: "Required", field, detail });
  const invalid = (field: string, badValue: unknown, detail: string): void =>
    void errors.push({ type: "Invalid", field, badValue, detail });
  const forbidden = (field: string, detail: string): void => void errors.push({ type: "Forbidden", field, detail });
  const items = fieldsOf(schema.items);
  if (type === "array" && !items) required(`${path}.items`, "must be specified");
  if (items) invariants(items, { path: `${path}.items`, level: "item", errors });
  const properties = entriesOf(schema.properties);
  for (const [name, property] of properties) {
    invariants(property, { path: `${path}.properties[${name}]`, level: "field", errors });
  }
  const additional = schema.additionalProperties;
  const hasAdditional = additional !== undefined && additional !== null;
  if (hasAdditional) {
    if (level === "root") forbidden(`${path}.additionalProperties`, "must not be used at the root");
    const inner = fieldsOf(additional);
    if (inner) invariants(inner, { path: `${path}.additionalProperties`, level: "field", errors });
  }
  const preserve = schema["x-kubernetes-preserve-unknown-fields"] === true;
  const embedded = schema["x-kubernetes-embedded-resource"] === true;
  const intOrString = schema["x-kubernetes-int-or-string"] === true;
  const alone = "must be false if x-kubernetes-int-or-string is true";
  if (intOrString && preserve) invalid(`${path}.x-kubernetes-preserve-unknown-fields`, true, alone);
  if (intOrString && embedded) invalid(`${path}.x-kubernetes-embedded-resource`, true, alone);
  junctors(schema, { path, level, errors }, isIntOrString(schema.anyOf), isIntOrString(listOf(schema.allOf)[0]?.anyOf));
  if (embedded && type !== "object") {
    const detail = "must be object if x-kubernetes-embedded-resource is true";
    if (type === "") required(`${path}.type`, detail);
    else invalid(`${path}.type`, type, detail);
  } else if (type === "" && !intOrString && !preserve) required(`${path}.type`, emptyType[level]);
  if (embedded && hasAdditional) {
    forbidden(`${path}.additionalProperties`, "must not be used if x-kubernetes-embedded-resource is set");
  }
  if (level === "root" && type !== "" && type !== "object") invalid(`${path}.type`, type, "must be object at the root");
  if (level === "root" || embedded) {
    for (const name of ["kind", "apiVersion"]) {
      const property = fieldsOf(fieldsOf(schema.properties)?.[name]);
      if (property && property.type !== "string") {
        invalid(`${path}.properties[${name}].type`, textOf(property.type), "must be string");
      }
    }
  }
  const metadata = fieldsOf(fieldsOf(schema.properties)?.metadata);
  if (metadata) metadataInvariants(metadata, { path: `${path}.properties[metadata]`, level, errors }, embedded);
  if (embedded && !preserve && properties.length === 0) {
    const detail =
      "must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields";
    required(`${path}.properties`, detail);
  }
}

function metadataInvariants(metadata: Fields, { path, level, errors }: Place, embedded: boolean): void {
  if ((level === "root" || embedded) && metadata.type !== "object") {
    errors.push({ type: "Invalid", field: `${path}.type`, badValue: textOf(metadata.type), detail: "must be object" });
  }
  if (level !== "root") return;
  const { type: _, default: __, properties, ...rest } = metadata;
  const named = Object.keys(fieldsOf(properties) ?? {}).every((name) => name === "name" || name === "generateName");
  if (named && Object.keys(rest).length === 0) return;
  const detail = "must not specify anything other than name and generateName, but metadata is implicitly specified";
  errors.push({ type: "Forbidden", field: path, detail });
}

function isIntOrString(anyOf: unknown): boolean {
  return equalValues(anyOf, [{ type: "integer" }, { type: "string" }]);
}

function junctors(schema: Fields, place: Place, skipAnyOf: boolean, skipFirstAllOf: boolean): void {
  const { path, errors } = place;
  if (!skipAnyOf) {
    for (const [index, one] of listOf(schema.anyOf).entries()) {
      nested(one, { ...place, path: `${path}.anyOf[${index}]` }, false);
    }
  }
  for (const [index, one] of listOf(schema.allOf).entries()) {
    nested(one, { ...place, path: `${path}.allOf[${index}]` }, skipFirstAllOf && index === 0);
  }
  for (const [index, one] of listOf(schema.oneOf).entries()) {
    nested(one, { ...place, path: `${path}.oneOf[${index}]` }, false);
  }
  const not = fieldsOf(schema.not);
  if (not) nested(not, { ...place, path: `${path}.not` }, false);
  const pattern = textOf(schema.pattern);
  const wrong = pattern === "" ? undefined : goRegExpError(pattern);
  if (wrong === undefined) return;
  const detail = `must be a valid regular expression, but isn't: ${wrong}`;
  errors.push({ type: "Invalid", field: `${path}.pattern`, badValue: pattern, detail });
}

const nestedRules: readonly (readonly [string, (value: unknown) => boolean, string])[] = [
  ["type", (value) => textOf(value) !== "", "must be empty to be structural"],
  ["additionalProperties", isThere, "must be undefined to be structural"],
  ["default", isThere, "must be undefined to be structural"],
  ["title", (value) => textOf(value) !== "", "must be empty to be structural"],
  ["description", (value) => textOf(value) !== "", "must be empty to be structural"],
  ["nullable", (value) => value === true, "must be false to be structural"],
  ["x-kubernetes-preserve-unknown-fields", (value) => value === true, "must be false to be structural"],
  ["x-kubernetes-embedded-resource", (value) => value === true, "must be false to be structural"],
  ["x-kubernetes-int-or-string", (value) => value === true, "must be false to be structural"],
  ["x-kubernetes-list-map-keys", (value) => listOf(value).length > 0, "must be empty to be structural"],
  ["x-kubernetes-list-type", isThere, "must be undefined to be structural"],
  ["x-kubernetes-map-type", isThere, "must be undefined to be structural"],
  ["x-kubernetes-validations", (value) => listOf(value).length > 0, "must be empty to be structural"],
];

function isThere(value: unknown): boolean {
  return value !== undefined && value !== null;
}

function nested(schema: Fields, { path, level, errors }: Place, skipAnyOf: boolean): void {
  junctors(schema, { path, level, errors }, skipAnyOf, false);
  const items = fieldsOf(schema.items);
  if (items) nested(items, { path: `${path}.items`, level, errors }, false);
  for (const [name, property] of entriesOf(schema.properties)) {
    nested(property, { path: `${path}.properties[${name}]`, level: "field", errors }, false);
  }
  for (const [name, breaks, detail] of nestedRules) {
    if (breaks(schema[name])) errors.push({ type: "Forbidden", field: `${path}.${name}`, detail });
  }
  if (fieldsOf(schema.properties)?.metadata !== undefined) {
    const field = `${path}.properties[metadata]`;
    errors.push({ type: "Forbidden", field, detail: "must not be specified in a nested context" });
  }
}

interface Completeness {
  /** The schema outside of junctors. */
  readonly at: Fields | undefined;
  readonly path: string;
  /** The junctor that restricts it. */
  readonly within: string;
  readonly errors: FieldError[];
}

function complete(schema: Fields, { at, path, within, errors }: Completeness): void {
  const not = fieldsOf(schema.not);
  if (not) nestedComplete(not, { at, path, within: `${within}.not`, errors });
  for (const name of ["allOf", "anyOf", "oneOf"]) {
    for (const [index, one] of listOf(schema[name]).entries()) {
      nestedComplete(one, { at, path, within: `${within}.${name}[${index}]`, errors });
    }
  }
}

function nestedComplete(schema: Fields, { at, path, within, errors }: Completeness): void {
  if (!at) {
    errors.push({ type: "Required", field: path, detail: `because it is defined in ${within}` });
    return;
  }
  complete(schema, { at, path, within, errors });
  const items = fieldsOf(schema.items);
  if (items) {
    nestedComplete(items, { at: fieldsOf(at.items), path: `${path}.items`, within: `${within}.items`, errors });
  }
  for (const [name, property] of entriesOf(schema.properties)) {
    const step = `.properties[${name}]`;
    const inner = fieldsOf(fieldsOf(at.properties)?.[name]);
    nestedComplete(property, { at: inner, path: path + step, within: within + step, errors });
  }
}
