/** Validates the schemas in a CustomResourceDefinition. */
import { type FieldError, notSupported } from "../field-error.ts";
import type { Fields } from "../hooks.ts";
import { equalValues } from "../patch/typed-values.ts";
import { validateRules } from "../cel/rules.ts";
import { schemaOf } from "./custom.ts";
import { compileErrors, ruleErrors } from "./definition-rules.ts";
import { validateLists } from "./list-validation.ts";
import { prune } from "./prune.ts";
import type { CelRule, Schema } from "./schema.ts";
import { checkStructural, entriesOf, fieldsOf, listOf, textOf } from "./structural.ts";
import { TotalCost } from "./total-cost.ts";
import { validateValues } from "./value-validation.ts";

export interface SchemaOptions {
  /** The path, such as `spec.validation.openAPIV3Schema`. */
  readonly path: string;
  readonly hasStatus: boolean;
}

const atRootWithStatus = new Set([
  "description",
  "type",
  "format",
  "title",
  "maximum",
  "exclusiveMaximum",
  "minimum",
  "exclusiveMinimum",
  "maxLength",
  "minLength",
  "pattern",
  "maxItems",
  "minItems",
  "uniqueItems",
  "multipleOf",
  "required",
  "items",
  "properties",
  "externalDocs",
  "example",
  "x-kubernetes-preserve-unknown-fields",
  "x-kubernetes-validations",
]);
const allowedText =
  "[Description Type Format Title Maximum ExclusiveMaximum Minimum ExclusiveMinimum MaxLength MinLength Pattern MaxItems MinItems UniqueItems MultipleOf Required Items Properties ExternalDocs Example XPreserveUnknownFields XValidations]";

export function checkDefinitionSchema(schema: Fields, { path, hasStatus }: SchemaOptions): FieldError[] {
  const errors: FieldError[] = [];
  if (hasStatus) {
    if (textOf(schema.type) !== "" && schema.type !== "object") {
      const detail =
        'only "object" is allowed as the type at the root of the schema if the status subresource is enabled';
      errors.push({ type: "Invalid", field: `${path}.type`, badValue: schema.type, detail });
    }
    const other = Object.keys(schema).find((name) => !atRootWithStatus.has(name) && isSet(schema[name]));
    if (other !== undefined) {
      const detail = `only ${allowedText} fields are allowed at the root of the schema if the status subresource is enabled`;
      errors.push({ type: "Invalid", field: path, badValue: schema, detail });
    }
  }
  if (schema.nullable === true) {
    errors.push({ type: "Forbidden", field: `${path}.nullable`, detail: "nullable cannot be true at the root" });
  }
  const supported = !hasUnsupported(schema);
  const structural = supported ? checkStructural(schema, path) : [];
  const defaults = !supported || structural.length > 0 ? [] : checkDefaults(schema, schemaOf(schema), path);
  errors.push(...structural, ...defaults);
  const found: Found = { schema: [], cel: [] };
  const total = new TotalCost();
  check(schema, {
    path,
    root: true,
    found,
    times: 1,
    total,
    rules: supported && structural.length + defaults.length === 0,
    meta: false,
  });
  const all = [...errors, ...found.schema, ...found.cel, ...total.errors(path)];
  if (all.length > 0 || !hasDialect(schema)) return all;
  return [{ type: "Invalid", field: path, badValue: "", detail: "OpenAPIV3Schema 'schema' is not supported" }];
}

/** Fields in which only patterns may be empty. */
const emptyIsNone: ReadonlySet<string> = new Set(["patternProperties", "definitions", "dependencies"]);

function isFilled(name: string, value: unknown): boolean {
  return isSet(value) && (!emptyIsNone.has(name) || Object.keys(value as object).length > 0);
}

function isSet(value: unknown): boolean {
  return value !== undefined && value !== null && value !== "" && value !== false;
}

/** Defaults must be valid values without unknown fields. */
function checkDefaults(props: Fields, schema: Schema, path: string): FieldError[] {
  const errors: FieldError[] = [];
  const value = props.default;
  if (value !== undefined && value !== null) {
    const at = `${path}.default`;
    const pruned = { value: structuredClone(value) };
    prune({ ...wrapped, properties: new Map([["value", schema]]) }, pruned);
    if (!equalValues(pruned.value, value)) {
      errors.push({ type: "Invalid", field: at, badValue: value, detail: "must not have unknown fields" });
    }
    const wrong = validateValues(schema, value, { within: at });
    errors.push(...(wrong.length > 0 ? wrong : validateRules(schema, value).map((error) => inside(error, at))));
    errors.push(...validateLists(schema, value, at));
  }
  const items = fieldsOf(props.items);
  if (items && schema.items) errors.push(...checkDefaults(items, schema.items, `${path}.items`));
  for (const [name, property] of entriesOf(props.properties)) {
    errors.push(...checkDefaults(property, schema.properties!.get(name)!, `${path}.properties[${name}]`));
  }
  return errors;
}

const wrapped: Schema = schemaOf({ type: "object" });

function inside(error: FieldError, path: string): FieldError {
  return { ...error, field: error.field === "<nil>" ? path : `${path}.${error.field}` };
}

interface Found {
  readonly schema: FieldError[];
  readonly cel: FieldError[];
}

interface Place {
  readonly path: string;
  readonly root: boolean;
  readonly found: Found;
  /** Whether rules are compiled here. */
  readonly rules: boolean;
  /** The largest number of times that the value occurs in one object; `undefined` when that is unbounded. */
  readonly times: number | undefined;
  readonly total: TotalCost;
  /** Whether the place is inside apiVersion, kind or metadata. */
  readonly meta: boolean;
  /** Why no default may be set. */
  readonly noDefaults?: string;
  /** The enclosing part of the schema whose old and new values cannot be correlated. */
  readonly uncorrelated?: string;
}

const types = ["array", "boolean", "integer", "number", "object", "string"];

const unsupported = ["id", "additionalItems", "patternProperties", "definitions", "dependencies", "$ref"];

function check(schema: Fields, place: Place): void {
  const { path } = place;
  // Errors at this level or below prevent rules from being compiled.
  const found: Found = { schema: [], cel: [] };
  const inner = { ...place, found, root: false, times: timesInside(schema, place.times) };
  standard(schema, { ...place, found });
  if (schema.uniqueItems === true) {
    const detail = "uniqueItems cannot be set to true since the runtime complexity becomes quadratic";
    found.schema.push({ type: "Forbidden", field: `${path}.uniqueItems`, detail });
  }
  const additional = schema.additionalProperties;
  if (additional !== undefined && additional !== null) {
    if (entriesOf(schema.properties).length > 0 && additional !== true) {
      const detail = "additionalProperties and properties are mutual exclusive";
      found.schema.push({ type: "Forbidden", field: `${path}.additionalProperties`, detail });
    }
    const values = fieldsOf(additional);
    if (values) check(values, { ...inner, path: `${path}.additionalProperties` });
  }
  for (const [name, property] of entriesOf(schema.properties)) {
    const own = place.root || schema["x-kubernetes-embedded-resource"] === true;
    const meta = own && ["metadata", "kind", "apiVersion"].includes(name);
    check(property, {
      ...inner,
      path: `${path}.properties[${name}]`,
      meta: place.meta || meta,
      ...(meta && place.root ? { noDefaults: `in top-level ${name}` } : {}),
    });
  }
  const not = fieldsOf(schema.not);
  if (not) check(not, { ...inner, path: `${path}.not`, rules: false });
  for (const name of ["allOf", "oneOf", "anyOf"]) {
    for (const [index, one] of listOf(schema[name]).entries()) {
      check(one, { ...inner, path: `${path}.${name}[${index}]`, rules: false });
    }
  }
  const items = fieldsOf(schema.items);
  if (items) {
    const uncorrelated = schema["x-kubernetes-list-type"] === "map" ? place.uncorrelated : (place.uncorrelated ?? path);
    check(items, { ...inner, path: `${path}.items`, ...(uncorrelated === undefined ? {} : { uncorrelated }) });
  }
  found.schema.push(...extensionErrors(schema, path));
  const rules = listOf(schema["x-kubernetes-validations"]) as unknown as CelRule[];
  found.schema.push(
    ...rules.flatMap((rule, index) => ruleErrors(schema, rule, `${path}.x-kubernetes-validations[${index}]`)),
  );
  if (place.rules && found.schema.length === 0) {
    for (const [index, rule] of rules.entries()) {
      const at = `${path}.x-kubernetes-validations[${index}]`;
      const { uncorrelated, root, times, total } = place;
      found.cel.push(...compileErrors(rule, at, { uncorrelated, schema, root, times, total }));
    }
  }
  place.found.schema.push(...found.schema);
  place.found.cel.push(...found.cel);
}

/** Values inside of lists and maps can occur as often as these have items. */
function timesInside(schema: Fields, times: number | undefined): number | undefined {
  const isMap = schema.type === "object" && fieldsOf(schema.additionalProperties) !== undefined;
  if (schema.type !== "array" && !isMap) return times;
  const room = isMap ? schema.maxProperties : schema.maxItems;
  return times === undefined || typeof room !== "number" ? undefined : times * Math.max(0, room);
}

/** Whether this schema or one inside it names its dialect. */
function hasDialect(schema: Fields): boolean {
  return textOf(schema["$schema"]) !== "" || schemasIn(schema).some(hasDialect);
}

function schemasIn(schema: Fields): Fields[] {
  return [
    ...entriesOf(schema.properties).map(([, property]) => property),
    ...["allOf", "oneOf", "anyOf"].flatMap((name) => listOf(schema[name])),
    ...["items", "additionalProperties", "not"]
      .map((name) => fieldsOf(schema[name]))
      .filter((one) => one !== undefined),
  ];
}

/** Whether this schema or one inside it has something that a structural schema cannot express. */
function hasUnsupported(schema: Fields): boolean {
  if (unsupported.some((name) => isFilled(name, schema[name])) || Array.isArray(schema.items)) return true;
  return schemasIn(schema).some(hasUnsupported);
}

function standard(schema: Fields, { path, found, noDefaults, meta }: Place): void {
  const type = textOf(schema.type);
  const forbid = (name: string, detail: string): void =>
    void found.schema.push({ type: "Forbidden", field: `${path}.${name}`, detail });
  if (type !== "" && !types.includes(type)) found.schema.push(notSupported(`${path}.type`, type, { valid: types }));
  if (schema.default !== undefined && schema.default !== null && noDefaults) {
    forbid("default", `must not be set ${noDefaults}`);
  }
  for (const name of unsupported) if (isFilled(name, schema[name])) forbid(name, `${name} is not supported`);
  if (type === "null") forbid("type", "type cannot be set to null, use nullable as an alternative");
  if (Array.isArray(schema.items)) forbid("items", "items must be a schema object and not an array");
  if (meta && schema["x-kubernetes-embedded-resource"] === true) {
    forbid("x-kubernetes-embedded-resource", "must not be used inside of resource meta");
  }
}

function extensionErrors(schema: Fields, path: string): FieldError[] {
  const errors: FieldError[] = [];
  const type = textOf(schema.type);
  const required = (name: string, detail: string): void =>
    void errors.push({ type: "Required", field: `${path}.${name}`, detail });
  const invalid = (name: string, badValue: unknown, detail: string): void =>
    void errors.push({ type: "Invalid", field: `${path}.${name}`, badValue, detail });
  const typed = (wanted: string, extension: string): void => {
    const detail = `must be ${wanted} if ${extension} is specified`;
    if (type === "") required("type", detail);
    else invalid("type", type, detail);
  };
  if (schema["x-kubernetes-preserve-unknown-fields"] === false) {
    invalid("x-kubernetes-preserve-unknown-fields", false, "must be true or undefined");
  }
  const mapType = schema["x-kubernetes-map-type"];
  const hasMapType = mapType !== undefined && mapType !== null;
  const listType = schema["x-kubernetes-list-type"];
  if (hasMapType && type !== "object") typed("object", "x-kubernetes-map-type");
  if (hasMapType && mapType !== "atomic" && mapType !== "granular") {
    errors.push(notSupported(`${path}.x-kubernetes-map-type`, mapType, { valid: ["atomic", "granular"] }));
  }
  const items = fieldsOf(schema.items);
  if (isSet(listType) && type !== "array") typed("array", "x-kubernetes-list-type");
  else if (listType === "set" && items) errors.push(...setItemErrors(items, path));
  if (isSet(listType) && !["atomic", "set", "map"].includes(textOf(listType))) {
    const valid = ["atomic", "set", "map"];
    errors.push(notSupported(`${path}.x-kubernetes-list-type`, listType, { valid }));
  }
  const keys = listOf(schema["x-kubernetes-list-map-keys"]) as unknown as string[];
  if (keys.length > 0 && listType !== "map") {
    const detail = "must be map if x-kubernetes-list-map-keys is non-empty";
    if (isSet(listType)) invalid("x-kubernetes-list-type", listType, detail);
    else required("x-kubernetes-list-type", detail);
  }
  if (listType === "map") errors.push(...listMapErrors(schema, keys, path));
  if ((listType === "map" || listType === "set") && items?.nullable === true) {
    const detail = `cannot be nullable when x-kubernetes-list-type is ${listType}`;
    errors.push({ type: "Forbidden", field: `${path}.items.nullable`, detail });
  }
  if (listType === "map" && items) errors.push(...keyErrors(items, keys, path));
  return errors;
}

function setItemErrors(items: Fields, path: string): FieldError[] {
  const detail = "must be atomic as item of a list with x-kubernetes-list-type=set";
  const listType = items["x-kubernetes-list-type"];
  if (items.type === "array" && isSet(listType) && listType !== "atomic") {
    return [{ type: "Invalid", field: `${path}.items.x-kubernetes-list-type`, badValue: listType, detail }];
  }
  if (items.type === "object" && items["x-kubernetes-map-type"] !== "atomic") {
    return [{ type: "Invalid", field: `${path}.items.x-kubernetes-map-type`, badValue: listType ?? null, detail }];
  }
  return [];
}

function listMapErrors(schema: Fields, keys: readonly string[], path: string): FieldError[] {
  const errors: FieldError[] = [];
  const at = `${path}.x-kubernetes-list-map-keys`;
  if (keys.length === 0) {
    errors.push({ type: "Required", field: at, detail: "must not be empty if x-kubernetes-list-type is map" });
  }
  const items = fieldsOf(schema.items);
  if (!items) {
    const detail = "must have a schema if x-kubernetes-list-type is map";
    return [...errors, { type: "Required", field: `${path}.items`, detail }];
  }
  if (items.type !== "object") {
    const detail = "must be object if parent array's x-kubernetes-list-type is map";
    return [...errors, { type: "Invalid", field: `${path}.items.type`, badValue: textOf(items.type), detail }];
  }
  for (const [index, key] of keys.entries()) {
    const property = fieldsOf(fieldsOf(items.properties)?.[key]);
    if (!property) {
      const detail = "entries must all be names of item properties";
      errors.push({ type: "Invalid", field: at, badValue: keys, detail });
    } else if (property.type === "array" || property.type === "object") {
      const detail = "must be a scalar type if parent array's x-kubernetes-list-type is map";
      errors.push({ type: "Invalid", field: `${path}.items.properties[${key}].type`, badValue: "object", detail });
    }
    if (keys.indexOf(key) < index) {
      errors.push({ type: "Invalid", field: at, badValue: keys, detail: "must not contain duplicate entries" });
    }
  }
  return errors;
}

function keyErrors(items: Fields, keys: readonly string[], path: string): FieldError[] {
  const errors: FieldError[] = [];
  const required = listOf(items.required) as unknown as string[];
  for (const key of keys) {
    const property = fieldsOf(fieldsOf(items.properties)?.[key]);
    if (!property) continue;
    const at = `${path}.items.properties[${key}]`;
    const listed = "this property is in x-kubernetes-list-map-keys, so it";
    if (!required.includes(key) && property.default === undefined) {
      const detail = `${listed} must have a default or be a required property`;
      errors.push({ type: "Required", field: `${at}.default`, detail });
    }
    if (property.nullable === true) {
      errors.push({ type: "Forbidden", field: `${at}.nullable`, detail: `${listed} cannot be nullable` });
    }
  }
  return errors;
}
