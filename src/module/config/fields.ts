/** The fields of a module's configuration: their names, types, defaults, and which are secret. */
import { z } from "zod";

/** A field with a single value. Objects in the schema become nested fields, and everything else is one value. */
export interface ConfigField {
  readonly path: readonly string[];
  /** The path as one text: `db.host`. */
  readonly key: string;
  /** The variable of the environment: `GUESTBOOK_DB_HOST`. */
  readonly variable: string;
  /** Whether its value is never shown, and belongs into a Secret. */
  readonly isSecret: boolean;
  /** Whether the field must have a value: it has no default, and neither it nor an enclosing object is optional. */
  readonly isRequired: boolean;
  /** Its JSON Schema, draft 7. */
  readonly json: JsonSchema;
}

export interface JsonSchema {
  readonly type?: string | readonly string[];
  readonly default?: unknown;
  readonly description?: string;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly items?: JsonSchema | readonly JsonSchema[];
  readonly anyOf?: readonly JsonSchema[];
  readonly oneOf?: readonly JsonSchema[];
  readonly allOf?: readonly JsonSchema[];
  readonly [keyword: string]: unknown;
}

/** Returns the fields of a configuration, in the order of the schema. @param name the configuration's name. */
export function fieldsOf(schema: z.ZodObject, name: string): readonly ConfigField[] {
  return [...fieldsBelow(schema, { name, path: [], isRequired: true, isSecret: undefined })];
}

/** A position in the schema, with the properties that apply to everything below it. */
interface Position {
  readonly name: string;
  readonly path: readonly string[];
  readonly isRequired: boolean;
  /** The value of `.meta({ sensitive })` of an enclosing type. */
  readonly isSecret: boolean | undefined;
}

function* fieldsBelow(schema: z.ZodObject, at: Position): Generator<ConfigField> {
  for (const [property, type] of Object.entries(schema.shape)) {
    const path = [...at.path, property];
    const isRequired = at.isRequired && type._zod.optin === undefined;
    const json = jsonSchema(type);
    const marked = json["sensitive"];
    const isSecret = typeof marked === "boolean" ? marked : at.isSecret;
    const inner = objectIn(type);
    if (inner !== undefined) yield* fieldsBelow(inner, { name: at.name, path, isRequired, isSecret });
    else {
      yield {
        path,
        key: path.join("."),
        variable: variableOf(at.name, path),
        isSecret: isSecret ?? soundsSecret(property, json),
        isRequired,
        json,
      };
    }
  }
}

/** Returns the object type with nested fields, without wrappers such as optionality and defaults. */
export function objectIn(type: z.core.$ZodType): z.ZodObject | undefined {
  if (type instanceof z.ZodObject) return type._zod.def.catchall === undefined || isClosed(type) ? type : undefined;
  const { innerType } = type._zod.def as { readonly innerType?: z.core.$ZodType };
  return innerType === undefined ? undefined : objectIn(innerType);
}

/** A strict object refuses fields that it does not name; with any other `catchall` the object is one value. */
function isClosed(type: z.ZodObject): boolean {
  return type._zod.def.catchall instanceof z.ZodNever;
}

function jsonSchema(type: z.core.$ZodType): JsonSchema {
  const { $schema: _, ...json } = z.toJSONSchema(type, { io: "input", unrepresentable: "any", target: "draft-7" });
  return json as JsonSchema;
}

/** `apiToken` of `secret-mirror` is `SECRET_MIRROR_API_TOKEN`. */
export function variableOf(name: string, path: readonly string[]): string {
  return [name, ...path].map((part) => snake(part).toUpperCase()).join("_");
}

function snake(text: string): string {
  return text
    .replace(/([a-z0-9])([A-Z])/g, "$1_$2")
    .replace(/([A-Z])([A-Z][a-z])/g, "$1_$2")
    .replace(/[^A-Za-z0-9]+/g, "_");
}

/** Endings of names whose values are secrets. `secretName` and `tokenFile` only name the place of one. */
const SECRET_NAME =
  /(^|_)(password|passwd|passphrase|pwd|secret|token|credential|(private|secret|access|api|signing|encryption)_?key|dsn|connection_string)s?$/;

function soundsSecret(property: string, json: JsonSchema): boolean {
  const types = typesOf(json);
  const isText = types.size === 0 || types.has("string") || types.has("object") || types.has("array");
  return isText && SECRET_NAME.test(snake(property).toLowerCase());
}

/** Returns the JSON types that a value may have; empty for any. */
export function typesOf(json: JsonSchema): ReadonlySet<string> {
  const types = new Set<string>(typeof json.type === "string" ? [json.type] : json.type);
  for (const value of json.enum ?? (json.const === undefined ? [] : [json.const])) types.add(typeOf(value));
  for (const one of [...(json.anyOf ?? []), ...(json.oneOf ?? []), ...(json.allOf ?? [])]) {
    for (const type of typesOf(one)) types.add(type);
  }
  return types;
}

function typeOf(value: unknown): string {
  return value === null ? "null" : Array.isArray(value) ? "array" : typeof value;
}

/** Returns the type of a field in plain words: `a whole number`, `one of "a", "b"`. */
export function shownType(json: JsonSchema): string {
  if (json.enum !== undefined) return `one of ${json.enum.map((one) => JSON.stringify(one)).join(", ")}`;
  if (json.const !== undefined) return JSON.stringify(json.const);
  const types = [...typesOf(json)];
  if (types.length === 0) return "any";
  return types.map((type) => (type === "array" ? listOf(json) : (SHOWN[type] ?? type))).join(" or ");
}

function listOf({ items }: JsonSchema): string {
  return items === undefined || Array.isArray(items) ? "list" : `list of ${shownType(items as JsonSchema)}`;
}

const SHOWN: Readonly<Record<string, string>> = { integer: "whole number" };
