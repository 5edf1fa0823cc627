/** Adds custom kinds to OpenAPI v2, which older clients and `kubectl explain --output=plaintext-openapiv2` use. */
import { writeJson } from "../numbers.ts";
import type { Fields } from "../hooks.ts";
import { type CustomKind, customPaths, customSchemas } from "./custom-openapi.ts";

/** The definitions of kinds, named as in OpenAPI. */
type Definitions = Readonly<Record<string, Fields>>;

const dropped = ["allOf", "oneOf", "anyOf", "not", "nullable", "default"];

/** Reduces a schema to what OpenAPI v2 can express; kubectl cannot read more. */
function asVersion2(schema: Fields): Fields {
  const rest: Fields = Object.fromEntries(Object.entries(schema).filter(([name]) => !dropped.includes(name)));
  const isOpen = schema["x-kubernetes-preserve-unknown-fields"] === true;
  if (schema["nullable"] === true || isOpen) {
    for (const name of ["items", "properties"]) delete rest[name];
    if (schema["nullable"] === true || schema["type"] === "object") delete rest["type"];
  }
  if (rest["items"] === undefined && rest["type"] === "array") delete rest["type"];
  for (const name of ["items", "additionalProperties"]) {
    const inner = rest[name];
    if (typeof inner === "object" && inner !== null) rest[name] = asVersion2(inner as Fields);
  }
  const properties = rest["properties"] as Readonly<Record<string, Fields>> | undefined;
  if (properties !== undefined) {
    const inner = Object.entries(properties).map(([name, property]) => [name, asVersion2(property)] as const);
    rest["properties"] = Object.fromEntries(inner);
    const required = (rest["required"] ?? []) as readonly string[];
    const left = required.filter((name) => properties[name]?.["nullable"] !== true);
    if (left.length > 0) rest["required"] = left;
    else delete rest["required"];
  }
  return rest;
}

/** Returns the schemas of all kinds and their lists. */
function definitionsOf(kinds: readonly CustomKind[]): Definitions {
  const definitions: Record<string, Fields> = {};
  for (const { row, schema } of kinds)
    Object.assign(definitions, customSchemas({ row, schema: asVersion2(schema) }, 2));
  return definitions;
}

interface Document {
  readonly definitions: Definitions;
  readonly paths: Readonly<Record<string, Fields>>;
}

/** Returns the document as JSON. */
export function withCustomKinds(document: Uint8Array, kinds: readonly CustomKind[]): Uint8Array {
  const parsed = JSON.parse(Buffer.from(document).toString()) as Document;
  const definitions = { ...parsed.definitions, ...definitionsOf(kinds) };
  const paths = { ...parsed.paths, ...pathsOf(kinds) };
  return Buffer.from(writeJson({ ...parsed, definitions, paths }));
}

interface Operation extends Fields {
  readonly parameters?: readonly Fields[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: Fields }>> };
  readonly responses: Readonly<Record<string, { readonly description: string; readonly content?: object }>>;
}

/** Returns operations in the form of v2. */
function pathsOf(kinds: readonly CustomKind[]): Document["paths"] {
  const parameter = ({ schema, ...rest }: Fields): Fields => ({ ...rest, ...(schema as Fields) });
  const operation = ({ parameters = [], requestBody, responses, ...rest }: Operation): Fields => {
    const [sent] = Object.values(requestBody?.content ?? {});
    const types = Object.keys(requestBody?.content ?? responses["200"]!.content!);
    const body = { name: "body", in: "body", ...(rest["x-kubernetes-action"] !== "delete" && { required: true }) };
    const all = [...(sent ? [{ ...body, schema: sent.schema }] : []), ...parameters.map(parameter)];
    return {
      ...rest,
      consumes: types,
      produces: Object.keys(responses["200"]!.content!),
      schemes: ["https"],
      ...(all.length > 0 && { parameters: all }),
      responses: Object.fromEntries(
        Object.entries(responses).map(([code, { description, content }]) => [
          code,
          { description, ...(content && (Object.values(content)[0] as Fields)) },
        ]),
      ),
    };
  };
  const paths = Object.entries(customPaths(kinds)).map(([path, parts]) => {
    const inner = Object.entries(parts).map(([method, part]) => [
      method,
      method === "parameters" ? (part as Fields[]).map(parameter) : operation(part as Operation),
    ]);
    return [path, Object.fromEntries(inner) as Fields] as const;
  });
  const text = writeJson(Object.fromEntries(paths)).replaceAll('"#/components/schemas/', '"#/definitions/');
  return JSON.parse(text) as Document["paths"];
}

/**
 * Returns the document as protobuf, with the kinds and without their operations, for which nobody looks there. A repeated
 * field is merged, so the definitions can be appended.
 */
export function withCustomKindsProtobuf(document: Uint8Array, kinds: readonly CustomKind[]): Uint8Array {
  const all = Object.entries(definitionsOf(kinds)).map(([name, schema]) =>
    bytes(1, named(name, schemaMessage(schema))),
  );
  return Buffer.concat([document, bytes(9, Buffer.concat(all))]);
}

function bytes(number: number, value: string | Uint8Array): Buffer {
  const content = Buffer.from(value as string);
  return Buffer.concat([Buffer.from(varint(number * 8 + 2)), Buffer.from(varint(content.length)), content]);
}

function varint(value: number): number[] {
  const digits: number[] = [];
  let rest = value;
  for (; rest >= 128; rest = Math.floor(rest / 128)) digits.push((rest % 128) + 128);
  return [...digits, rest];
}

function named(name: string, value: Uint8Array): Buffer {
  return Buffer.concat([bytes(1, name), bytes(2, value)]);
}

/** Encodes any value as YAML, which includes JSON. */
function anything(value: unknown): Buffer {
  return bytes(2, writeJson(value));
}

const texts: Readonly<Record<string, number>> = { $ref: 1, format: 2, title: 3, description: 4, pattern: 13 };
const numbers: Readonly<Record<string, number>> = {
  maxLength: 11,
  minLength: 12,
  maxItems: 14,
  minItems: 15,
  maxProperties: 17,
  minProperties: 18,
};
const doubles: Readonly<Record<string, number>> = { multipleOf: 6, maximum: 7, minimum: 9 };

/** Encodes the message `Schema` of gnostic's OpenAPI v2. */
function schemaMessage(schema: Fields): Buffer {
  const parts: Buffer[] = [];
  for (const [name, value] of Object.entries(schema)) {
    if (value === undefined || value === null) continue;
    if (name in texts) parts.push(bytes(texts[name]!, String(value)));
    else if (name in numbers) parts.push(Buffer.from([...varint(numbers[name]! * 8), ...varint(Number(value))]));
    else if (name in doubles) parts.push(double(doubles[name]!, Number(value)));
    else if (name === "required") for (const one of value as string[]) parts.push(bytes(19, one));
    else if (name === "enum") for (const one of value as unknown[]) parts.push(bytes(20, anything(one)));
    else if (name === "type") parts.push(bytes(22, bytes(1, String(value))));
    else if (name === "items") parts.push(bytes(23, bytes(1, schemaMessage(value as Fields))));
    else if (name === "properties") parts.push(bytes(25, propertiesMessage(value as Record<string, Fields>)));
    else if (name === "additionalProperties") parts.push(bytes(21, additional(value)));
    else if (name.startsWith("x-")) parts.push(bytes(31, named(name, anything(value))));
  }
  return Buffer.concat(parts);
}

function propertiesMessage(properties: Readonly<Record<string, Fields>>): Buffer {
  const all = Object.entries(properties).map(([name, property]) => bytes(1, named(name, schemaMessage(property))));
  return Buffer.concat(all);
}

function additional(value: unknown): Buffer {
  return typeof value === "boolean" ? Buffer.from([16, value ? 1 : 0]) : bytes(1, schemaMessage(value as Fields));
}

function double(number: number, value: number): Buffer {
  const content = Buffer.alloc(8);
  content.writeDoubleLE(value);
  return Buffer.concat([Buffer.from(varint(number * 8 + 1)), content]);
}
