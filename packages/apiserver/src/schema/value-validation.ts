/** Validates values against JSON Schema, with the order and the messages of the server's validator. */
import { type FieldError, goNumber } from "../field-error.ts";
import { asFloat, isFloat, isInteger, isNumber } from "../numbers.ts";
import { goJson, goQuoted } from "../field-error.ts";
import { equalValues } from "../patch/typed-values.ts";
import { hasFormat } from "./formats.ts";
import type { Schema, ValueRules } from "./schema.ts";

/**
 * The errors of a value, and the number of passed checks: among several alternatives, the one with most passed checks
 * is reported.
 */
interface Result {
  readonly errors: FieldError[];
  matches: number;
}

export interface ValueOptions {
  /** The value before the update; an unchanged part is not validated again. */
  readonly old?: unknown;
  /** The path of the value, which messages leave out. @default ""  */
  readonly within?: string;
}

export function validateValues(schema: Schema, value: unknown, { old, within = "" }: ValueOptions = {}): FieldError[] {
  const { errors } = check(schema, value, { path: "", old });
  if (within === "") return errors;
  return errors.map((error) => {
    const { field } = error;
    return { ...error, field: field === "<nil>" ? within : `${within}${field.startsWith("[") ? "" : "."}${field}` };
  });
}

interface Place {
  readonly path: string;
  readonly old: unknown;
}

function check(schema: Schema, value: unknown, place: Place): Result {
  const result: Result = { errors: [], matches: 0 };
  // Metadata is validated like that of every object.
  if (schema.go) return result;
  if (place.old !== undefined && equalValues(value, place.old)) return result;
  const { path } = place;
  if (value === null) {
    checkType(schema, value, { path, result });
    checkEnum(schema, value, { path, result });
    return result;
  }
  checkType(schema, value, { path, result });
  checkCombinations(schema, value, { ...place, result });
  if (typeof value === "string") checkString(schema, value, { path, result });
  else if (isNumber(value)) checkNumber(schema, value as number | bigint, { path, result });
  else if (Array.isArray(value)) checkItems(schema, value, { ...place, result });
  checkEnum(schema, value, { path, result });
  if (typeof value === "object" && !Array.isArray(value) && !isFloat(value)) {
    checkObject(schema, value as Readonly<Record<string, unknown>>, { ...place, result });
  }
  result.matches++;
  return result;
}

interface At {
  readonly path: string;
  readonly result: Result;
}

/** Returns the name with which errors begin. */
function named(path: string): string {
  return `${path} in body`;
}

function fieldOf(path: string): string {
  return path === "" ? "<nil>" : path.replace(/^\./, "");
}

function invalid({ path, result }: At, badValue: unknown, what: string): void {
  result.errors.push({ type: "Invalid", field: fieldOf(path), badValue, detail: `${named(path)} ${what}` });
}

function typeName(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  if (isNumber(value)) return isInteger(value) ? "integer" : "number";
  return typeof value;
}

function checkType(schema: Schema, value: unknown, { path, result }: At): void {
  const types = schema.intOrString ? ["integer", "string"] : schema.type === "" ? [] : [schema.type as string];
  const actual = typeName(value);
  const right =
    types.length === 0 ||
    (value === null
      ? schema.nullable
      : types.includes(actual) ||
        (actual === "integer" && types.includes("number")) ||
        (actual === "number" && types.includes("integer") && isNearlyInteger(Number(value))));
  result.matches++;
  if (right) return;
  const numeric =
    schema.format === "int32" || schema.format === "int64" || schema.format === "double" || schema.format === "float";
  if (numeric && value !== null && actual !== "string" && actual !== "array") {
    const detail = `${named(path)} must be of type ${schema.format}: ${goQuoted(actual === "number" ? "float64" : "")}`;
    result.errors.push({
      type: "TypeInvalid",
      field: fieldOf(path),
      badValue: actual === "number" ? "float64" : "",
      detail,
    });
    return;
  }
  const detail = `${named(path)} must be of type ${types.join(",")}: ${goQuoted(actual)}`;
  result.errors.push({ type: "TypeInvalid", field: fieldOf(path), badValue: actual, detail });
}

/**
 * Whether a number equals an allowed one after conversion to its Go type: beside an integer, a float loses its
 * fraction.
 */
function isConverted(value: unknown, allowed: unknown): boolean {
  if (!isNumber(value) || !isNumber(allowed)) return false;
  if (!isInteger(allowed)) return Number(value) === Number(allowed);
  return (
    !isInteger(value) && Math.abs(Number(value)) < 2 ** 63 && BigInt(Math.trunc(Number(value))) === BigInt(allowed)
  );
}

/** Whether a float counts as an integer of JSON, for which it may be off by a billionth. */
function isNearlyInteger(value: number): boolean {
  if (!(Math.abs(value) <= Number.MAX_SAFE_INTEGER)) return false;
  const whole = Math.trunc(value);
  // go-openapi converts to an integer without a sign here, so that a negative number has to be exact.
  return value === whole || (value > 0 && (value - whole) / (value + whole) < 1e-9);
}

function checkEnum(schema: Schema, value: unknown, { path, result }: At): void {
  const allowed = schema.enum;
  if (!allowed || allowed.length === 0) return;
  if (allowed.some((one) => equalValues(one, value) || isConverted(value, one))) {
    result.matches++;
    return;
  }
  const values = allowed.map((one) => goQuoted(typeof one === "string" ? one : goJson(one)));
  const detail = `supported values: ${values.join(", ")}`;
  result.errors.push({ type: "NotSupported", field: fieldOf(path), badValue: value, detail });
}

function checkString({ values, format }: Schema, value: string, at: At): void {
  const { path, result } = at;
  if (values) {
    const length = values.maxLength === undefined && values.minLength === undefined ? 0 : Array.from(value).length;
    if (values.maxLength !== undefined && length > values.maxLength) {
      const detail = `may not be more than ${values.maxLength} byte${values.maxLength === 1 ? "" : "s"}`;
      result.errors.push({ type: "TooLong", field: fieldOf(path), badValue: "", detail });
    } else if (values.minLength !== undefined && length < values.minLength) {
      invalid(at, value, `should be at least ${values.minLength} chars long`);
    } else if (values.pattern && !values.pattern.test(value)) {
      invalid(at, value, `should match '${values.patternText}'`);
    }
  }
  if (format !== undefined && hasFormat(format, value) === false) {
    const detail = `${named(path)} must be of type ${format}: ${goQuoted(value)}`;
    result.errors.push({ type: "TypeInvalid", field: fieldOf(path), badValue: value, detail });
  }
  result.matches++;
}

/** Checks an integer or a float, which may also be an object. */
function checkNumber({ values, format, type }: Schema, value: number | bigint, at: At): void {
  const { path, result } = at;
  const limits: Readonly<Record<string, number>> = { int32: 2 ** 31, int64: 2 ** 63 };
  const limit = limits[format ?? "int64"] ?? 2 ** 63;
  if (type === "integer" && !isWithin(value, limit)) {
    const kind = format === undefined ? "(default format)" : `with format ${format}`;
    const detail = `Checked value must be of type integer ${kind} in ${path}`;
    result.errors.push({ type: "Invalid", field: "<nil>", badValue: "", detail });
  }
  if (type === "number" && format === "float" && Math.abs(Number(value)) > largestFloat) {
    const detail = `Checked value must be of type number with format float in ${path}`;
    result.errors.push({ type: "Invalid", field: "<nil>", badValue: "", detail });
  }
  if (values) checkLimits(values, value, at);
  result.matches++;
}

/** Whether the value fits; kube-openapi formats a float and reads the text as an integer. */
function isWithin(value: unknown, limit: number): boolean {
  if (typeof value === "bigint") return limit === 2 ** 63;
  const number = Number(value);
  return Number.isInteger(number) && number < limit && (number > -limit || (number === -limit && limit === 2 ** 31));
}

const largestFloat = 3.4028234663852886e38;

/** The server compares integers with the integral part of a limit. */
function checkLimits(values: ValueRules, value: number | bigint, at: At): void {
  const isWhole = isInteger(value);
  const whole = (limit: number | undefined): number | undefined =>
    limit !== undefined && isWhole ? Math.trunc(limit) : limit;
  const limitText = (limit: number): string => goNumber(isWhole ? BigInt(limit) : asFloat(limit));
  const [multipleOf, minimum, maximum] = [whole(values.multipleOf), whole(values.minimum), whole(values.maximum)];
  const { path, result } = at;
  if (multipleOf !== undefined && multipleOf <= 0) {
    const detail = `factor MultipleOf declared for ${path} must be positive: ${multipleOf}`;
    result.errors.push({ type: "Invalid", field: fieldOf(path), badValue: multipleOf, detail });
  } else if (multipleOf !== undefined && !isMultiple(value, multipleOf)) {
    invalid(at, value, `should be a multiple of ${limitText(multipleOf)}`);
  }
  if (minimum !== undefined && (values.exclusiveMinimum ? value <= minimum : value < minimum)) {
    invalid(at, value, `should be greater than ${values.exclusiveMinimum ? "" : "or equal to "}${limitText(minimum)}`);
  }
  if (maximum !== undefined && (values.exclusiveMaximum ? value >= maximum : value > maximum)) {
    invalid(at, value, `should be less than ${values.exclusiveMaximum ? "" : "or equal to "}${limitText(maximum)}`);
  }
}

function isMultiple(value: number | bigint, factor: number): boolean {
  if (isInteger(value)) return BigInt(value) % BigInt(factor) === 0n;
  return isNearlyInteger(factor < 1 ? (1 / factor) * Number(value) : Number(value) / factor);
}

interface Inside extends At {
  readonly old: unknown;
}

function checkItems({ items, values, listType, listKeys }: Schema, list: readonly unknown[], inside: Inside): void {
  const { path, result } = inside;
  const before = Array.isArray(inside.old) ? (inside.old as unknown[]) : [];
  const keyed = listType === "map" ? byKeys(before, listKeys) : undefined;
  if (items) {
    for (const [index, item] of list.entries()) {
      const old = keyed
        ? keyed.get(keyOf(item, listKeys))
        : listType === undefined || listType === "atomic"
          ? undefined
          : undefined;
      merge(result, check(items, item, { path: `${path}[${index}]`, old }));
    }
  }
  if (values?.minItems !== undefined && list.length < values.minItems) {
    invalid(inside, list.length, `should have at least ${values.minItems} items`);
  }
  if (values?.maxItems !== undefined && list.length > values.maxItems) {
    tooMany(inside, list.length, values.maxItems);
  }
  if (
    values?.uniqueItems &&
    list.some((item, index) => list.slice(0, index).some((other) => equalValues(item, other)))
  ) {
    invalid(inside, "", "shouldn't contain duplicates");
  }
  result.matches++;
}

function tooMany({ path, result }: At, actual: number, most: number): void {
  const detail = `must have at most ${most} item${most === 1 ? "" : "s"}`;
  result.errors.push({ type: "TooMany", field: fieldOf(path), badValue: actual, detail });
}

export function keyOf(item: unknown, keys: readonly string[]): string {
  if (typeof item !== "object" || item === null) return goJson(item);
  return goJson(keys.map((key) => (item as Readonly<Record<string, unknown>>)[key] ?? null));
}

export function byKeys(items: readonly unknown[], keys: readonly string[]): Map<string, unknown> {
  return new Map(items.map((item) => [keyOf(item, keys), item]));
}

function checkObject(schema: Schema, value: Readonly<Record<string, unknown>>, inside: Inside): void {
  const { path, result } = inside;
  const { properties, additional, values, required } = schema;
  const old = isMap(inside.old) ? inside.old : undefined;
  const names = Object.keys(value);
  if (values?.minProperties !== undefined && names.length < values.minProperties) {
    invalid(inside, names.length, `should have at least ${values.minProperties} properties`);
  }
  if (values?.maxProperties !== undefined && names.length > values.maxProperties) {
    tooMany(inside, names.length, values.maxProperties);
  }
  for (const name of names) {
    const property = properties?.get(name) ?? additional;
    if (!property) continue;
    const before = old && Object.hasOwn(old, name) ? old[name] : undefined;
    merge(result, check(property, value[name], { path: `${path}.${name}`.replace(/^\./, ""), old: before }));
  }
  for (const name of required) {
    if (Object.hasOwn(value, name)) continue;
    result.errors.push({ type: "Required", field: fieldOf(`${path}.${name}`), detail: "" });
  }
}

function isMap(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function merge(into: Result, from: Result): void {
  into.errors.push(...from.errors);
  into.matches += from.matches;
}

function checkCombinations({ values }: Schema, value: unknown, inside: Inside): void {
  if (!values) return;
  const { path, old, result } = inside;
  const whole = (what: string): void =>
    void result.errors.push({ type: "Invalid", field: "<nil>", badValue: "", detail: `${goQuoted(path)} ${what}` });
  if (values.anyOf) {
    const results = values.anyOf.map((one) => check(one, value, { path, old }));
    if (!results.some(({ errors }) => errors.length === 0)) {
      whole("must validate at least one schema (anyOf)");
      merge(result, best(results));
    }
  }
  if (values.oneOf) {
    const results = values.oneOf.map((one) => check(one, value, { path, old }));
    const valid = results.filter(({ errors }) => errors.length === 0).length;
    if (valid !== 1) {
      const count = valid === 0 ? "Found none valid" : `Found ${valid} valid alternatives`;
      whole(`must validate one and only one schema (oneOf). ${count}`);
      if (valid === 0) merge(result, best(results));
    }
  }
  if (values.allOf) {
    const results = values.allOf.map((one) => check(one, value, { path, old }));
    for (const one of results) merge(result, one);
    const valid = results.filter(({ errors }) => errors.length === 0).length;
    if (valid < results.length) whole(`must validate all the schemas (allOf)${valid === 0 ? ". None validated" : ""}`);
  }
  if (values.not && check(values.not, value, { path, old }).errors.length === 0)
    whole("must not validate the schema (not)");
  result.matches++;
}

function best(results: readonly Result[]): Result {
  let best = results[0]!;
  for (const result of results) if (result.matches > best.matches) best = result;
  return best;
}
