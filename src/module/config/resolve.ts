/**
 * Determines the values of a configuration; a fault names the field, the source of its value, and the expected type.
 */
import type { z } from "zod";
import { innerSecrets, isTokenAsUser } from "../../resource/inner-secrets.ts";
import { SHORTEST_SECRET } from "../../observe/secret-search.ts";
import { printable } from "../../observe/printable.ts";
import { nearest } from "../nearest.ts";
import { type ConfigField, fieldsOf, type JsonSchema, objectIn, shownType, typesOf, variableOf } from "./fields.ts";
import { type ConfigSources, type SourceValue, sourceValue, valueAt } from "./sources.ts";
import { setField } from "../../resource/any-key.ts";

/** A fault of one field, or of the configuration as a whole. */
export interface ConfigFault {
  /** `undefined` for the configuration as a whole. */
  readonly field: string | undefined;
  /** Whether a required field has no value. */
  readonly isMissing: boolean;
  /** A sentence without the name of the configuration. It repeats no secret. */
  readonly message: string;
}

export interface Resolved {
  /** The values, frozen; `undefined` when there are faults. */
  readonly values: Readonly<Record<string, unknown>> | undefined;
  readonly faults: readonly ConfigFault[];
  /** The values from the sources, by the key of the field. */
  readonly provisions: ReadonlyMap<string, SourceValue>;
  /** The texts that must not be shown. */
  readonly secrets: readonly string[];
  /** The input of the schema, which may lack values. */
  readonly input: Readonly<Record<string, unknown>>;
}

/** A configuration as a module declares it. */
export interface DeclaredConfig {
  readonly name: string;
  readonly schema: z.ZodObject;
  readonly fields: readonly ConfigField[];
}

export function declaredConfig(schema: z.ZodObject, name: string): DeclaredConfig {
  return { name, schema, fields: fieldsOf(schema, name) };
}

/** Reads the values of all fields, and checks them together. */
export function resolveConfig({ name, schema, fields }: DeclaredConfig, sources: ConfigSources): Resolved {
  const provisions = new Map<string, SourceValue>();
  const faults: ConfigFault[] = [];
  const input: Record<string, unknown> = {};
  const secrets: string[] = [];
  makeRoom(schema, input);
  for (const field of fields) {
    const provided = sourceValue({ name, ...field }, sources);
    if (provided === undefined) {
      if (field.isRequired)
        faults.push({ field: field.key, isMissing: true, message: missing(field, { name, sources }) });
      continue;
    }
    provisions.set(field.key, provided);
    secrets.push(...(field.isSecret ? textsIn(provided.value) : passwordsIn(provided.value)));
    const read = provided.isText ? fromText(String(provided.value), field.json) : { value: provided.value };
    if ("expected" in read) faults.push(wrong(field, provided, `expected ${read.expected}`));
    else put(input, field.path, read.value);
  }
  const { data, issues } = parsed(schema, input);
  for (const issue of issues) {
    const field = fieldAt(fields, issue.path);
    if (field !== undefined && faults.some((fault) => fault.field === field.key)) continue;
    faults.push(faultOf(issue, field, { name, provisions, sources, secrets }));
  }
  const place = ({ field }: ConfigFault): number => fields.findIndex(({ key }) => key === field);
  faults.sort((a, b) => place(a) - place(b));
  const values = faults.length === 0 ? frozen(data as Readonly<Record<string, unknown>>) : undefined;
  // A schema may decode its input, which makes new secrets.
  for (const { isSecret, path } of fields) if (isSecret) secrets.push(...textsIn(valueAt(values, path)));
  return { values, faults, provisions, secrets, input };
}

/** Returns one property on its own, when others may have faults; `undefined` when it has one itself. */
export function resolveProperty(
  { schema }: DeclaredConfig,
  { input }: Resolved,
  property: string,
): { readonly value: unknown } | undefined {
  const { data, issues } = parsed(schema.shape[property] as z.ZodType, input[property]);
  return issues.length > 0 ? undefined : { value: frozen(data) };
}

function parsed(
  schema: z.ZodType,
  input: unknown,
): { readonly data?: unknown; readonly issues: readonly z.core.$ZodIssue[] } {
  try {
    const result = schema.safeParse(input);
    return result.success ? { data: result.data, issues: [] } : { issues: result.error.issues };
  } catch (error) {
    // For example, an asynchronous refinement.
    const message = error instanceof Error ? error.message : String(error);
    return { issues: [{ code: "custom", path: [], message, input: undefined }] };
  }
}

/** An object whose fields have separate values exists even if none of them has one. */
function makeRoom(schema: z.ZodObject, input: Record<string, unknown>): void {
  for (const [property, type] of Object.entries(schema.shape)) {
    const inner = type._zod.optin === undefined ? objectIn(type) : undefined;
    if (inner === undefined) continue;
    const own: Record<string, unknown> = {};
    put(input, [property], own);
    makeRoom(inner, own);
  }
}

function put(input: Record<string, unknown>, path: readonly string[], value: unknown): void {
  const [property, ...rest] = path as [string, ...string[]];
  if (rest.length > 0 && !Object.hasOwn(input, property)) put(input, [property], {});
  if (rest.length > 0) put(input[property] as Record<string, unknown>, rest, value);
  else setField(input, property, value);
}

type Read = { readonly value: unknown } | { readonly expected: string };

/** Converts a text to the type of the field. */
function fromText(text: string, json: JsonSchema): Read {
  const types = typesOf(json);
  const trimmed = text.trim();
  const isStructured = types.has("object") || types.has("array");
  if (isStructured && /^[[{]/.test(trimmed)) {
    try {
      return { value: JSON.parse(trimmed) };
    } catch {
      return types.has("string") ? { value: text } : { expected: `${shownType(json)}, and this is not JSON` };
    }
  }
  if (types.has("string") || types.size === 0) return { value: text };
  if (types.has("boolean") && /^(true|false)$/.test(trimmed)) return { value: trimmed === "true" };
  if ((types.has("number") || types.has("integer")) && trimmed !== "" && !Number.isNaN(Number(trimmed))) {
    return { value: Number(trimmed) };
  }
  if (types.has("null") && trimmed === "null") return { value: null };
  if (types.has("array")) return listFrom(trimmed, json);
  return { expected: types.has("boolean") && types.size === 1 ? "true or false" : shownType(json) };
}

/** A list of simple values may be written with commas. */
function listFrom(text: string, { items }: JsonSchema): Read {
  const value: unknown[] = [];
  for (const part of text === "" ? [] : text.split(",")) {
    const read = fromText(part.trim(), items === undefined || Array.isArray(items) ? {} : (items as JsonSchema));
    if ("expected" in read) return read;
    value.push(read.value);
  }
  return { value };
}

/** Returns the field of an issue; an issue inside a list or record belongs to the list or record. */
function fieldAt(fields: readonly ConfigField[], at: readonly PropertyKey[]): ConfigField | undefined {
  return fields.find(({ path }) => path.every((property, index) => at[index] === property));
}

interface FaultContext {
  readonly name: string;
  readonly provisions: ReadonlyMap<string, SourceValue>;
  readonly sources: ConfigSources;
  readonly secrets: readonly string[];
}

function faultOf(issue: z.core.$ZodIssue, field: ConfigField | undefined, context: FaultContext): ConfigFault {
  const expected = expectedBy(issue);
  if (field === undefined) {
    const at = issue.path.join(".");
    const message = withoutAny(at === "" ? expected : `${at}: ${expected}`, context.secrets);
    return { field: undefined, isMissing: false, message };
  }
  const provided = context.provisions.get(field.key);
  if (provided === undefined) return { field: field.key, isMissing: true, message: missing(field, context) };
  const inner = issue.path.slice(field.path.length).join(".");
  // A message about several fields may repeat the secret of another field; short secrets are not replaced, because they
  // occur by chance.
  const others = context.secrets.filter(({ length }) => length >= SHORTEST_SECRET);
  return wrong(field, provided, withoutAny(inner === "" ? expected : `at ${inner}: ${expected}`, others));
}

/**
 * The received value is removed: `Invalid input: expected number, received NaN` names a value that nobody has written.
 */
function expectedBy({ message }: z.core.$ZodIssue): string {
  return message.replace(/^Invalid (?:input|option): (expected .*)$/, "$1").replace(/, received (NaN|undefined)$/, "");
}

/** The longest value that a message repeats. */
const LONGEST = 60;

function wrong({ key, isSecret }: ConfigField, { value, from }: SourceValue, expected: string): ConfigFault {
  const explanation = isSecret ? withoutAny(expected, [...textsIn(value)]) : expected;
  const valueText = isSecret || hasPassword(value) ? "" : ` ${shortText(value)}`;
  return {
    field: key,
    isMissing: false,
    message: `${key} is${valueText === "" ? " not valid" : valueText} in ${from}: ${explanation}`,
  };
}

/** Addresses of servers may hold a password, or a token in place of the user, whatever the field is called. */
export function hasPassword(value: unknown): boolean {
  return passwordsIn(value).next().done !== true;
}

function* passwordsIn(value: unknown): Generator<string> {
  for (const text of textsIn(value)) {
    for (const [, user, password] of text.matchAll(/:\/\/([^/\s:@]*)(?::([^/\s]*))?@/g)) {
      if (isTokenAsUser(user!)) yield user!;
      if (password) yield password;
    }
  }
}

function shortText(value: unknown): string {
  const text = printable(JSON.stringify(value) ?? String(value));
  return text.length <= LONGEST ? text : `${text.slice(0, LONGEST)}…`;
}

/** Removes secrets from a message, because an author's own message may repeat the value. */
function withoutAny(message: string, secrets: readonly string[]): string {
  return secrets.some((secret) => repeats(message, secret)) ? "it is refused" : printable(message);
}

/** The digits of a number may also be part of a longer number, such as a limit. */
function repeats(message: string, secret: string): boolean {
  if (!/^\d+$/.test(secret)) return secret !== "" && message.includes(secret);
  return message.split(/\D+/).includes(secret);
}

function missing(
  { key, variable }: ConfigField,
  { name, sources: { env, places } }: Pick<FaultContext, "name" | "sources">,
): string {
  const place = places.at(-1);
  const elsewhere =
    place === undefined
      ? `give '${name}.${key}' in a file that --module-config names`
      : place.kind === "file"
        ? `write '${name}.${key}' into ${place.path}`
        : `write it into ${place.path}/${name}.${key}`;
  if (env === undefined) return `${key} is missing: ${elsewhere}`;
  const ours = Object.keys(env).filter((one) => one.startsWith(variableOf(name, [""])));
  const similar = nearest(variable, ours);
  return `${key} is missing: set ${variable}${similar === undefined ? "" : ` (there is ${similar})`}, or ${elsewhere}`;
}

/** Freezes plain values; objects of classes, which a schema may make, stay as they are. */
function frozen<T>(value: T): T {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return value;
  const prototype: unknown = Object.getPrototypeOf(value);
  if (!Array.isArray(value) && prototype !== Object.prototype && prototype !== null) return value;
  for (const inner of Object.values(value)) frozen(inner);
  return Object.freeze(value);
}

/** The texts and numbers of a value, and no booleans, as in objects. */
function* textsIn(value: unknown): Generator<string> {
  if (typeof value === "string") {
    yield value;
    yield* innerSecrets(value);
  } else if (typeof value === "number") yield String(value);
  else if (typeof value === "object" && value !== null) for (const inner of Object.values(value)) yield* textsIn(inner);
}
