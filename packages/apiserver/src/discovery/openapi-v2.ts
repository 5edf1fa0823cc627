/** Adds custom kinds to OpenAPI v2, which older clients and `kubectl explain --output=plaintext-openapiv2` use. */
import { writeJson } from "../numbers.ts";
import type { Fields } from "../hooks.ts";

/** The definitions of kinds, named as in OpenAPI. */
export type Definitions = Readonly<Record<string, Fields>>;

const dropped = ["allOf", "oneOf", "anyOf", "not", "nullable", "default", "x-kubernetes-validations", "example"];

/** Reduces a schema to what OpenAPI v2 can express; kubectl cannot read more. */
export function asVersion2(schema: Fields): Fields {
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
    if (required.length > 0) rest["required"] = required.filter((name) => properties[name]?.["nullable"] !== true);
  }
  return rest;
}

/** Returns the document as JSON. */
export function withDefinitions(document: Uint8Array, more: Definitions): Uint8Array {
  const parsed = JSON.parse(Buffer.from(document).toString()) as { definitions: Definitions };
  const definitions = { ...parsed.definitions, ...more };
  return Buffer.from(writeJson({ ...parsed, definitions }));
}

/** Returns the document as protobuf: a repeated field is merged, so the definitions can be appended. */
export function withDefinitionsProtobuf(document: Uint8Array, more: Definitions): Uint8Array {
  const all = Object.entries(more).map(([name, schema]) => bytes(1, named(name, schemaMessage(schema))));
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
