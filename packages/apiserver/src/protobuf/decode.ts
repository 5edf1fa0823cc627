/** Decodes Kubernetes' protobuf encoding of built-in kinds, which clients written in Go send. */
import type { Fields } from "../hooks.ts";
import { asInteger } from "../numbers.ts";
import type { Schema } from "../schema/schema.ts";
import { badRequest } from "../status.ts";
import { type Kind, type Message, messageOf, meta, nameOf } from "./messages.ts";
import { eithers } from "./either.ts";
import { fromOwnMessage } from "./own-messages.ts";
import { WireReader } from "./wire-reader.ts";
import { setField } from "../schema/set-field.ts";

/** The prefix of every body. @see k8s.io/apimachinery `protoEncodingPrefix` */
const prefix = [0x6b, 0x38, 0x73, 0x00];

/** Whether a kind has a protobuf encoding. */
export function hasProtobuf(kind: Kind): boolean {
  return messageOf(nameOf(kind)) !== undefined;
}

/**
 * Decodes the object in a body.
 *
 * @throws StatusError 400 when the bytes are not an object.
 */
export function decodeProtobuf(bytes: Uint8Array, schemaOf: (kind: Kind) => Schema | undefined): Fields {
  if (bytes.length < 4 || prefix.some((byte, index) => bytes[index] !== byte))
    throw badRequest("provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]");
  try {
    const { apiVersion, kind, raw } = envelope(bytes.subarray(4));
    const slash = apiVersion.indexOf("/");
    const own = { group: apiVersion.slice(0, Math.max(0, slash)), version: apiVersion.slice(slash + 1), kind };
    // Options are sent under the group of the kind that they belong to.
    const isOptions = kind.endsWith("Options") && messageOf(nameOf(own)) === undefined;
    const name = isOptions ? `${meta}.${kind}` : nameOf(own);
    const message = messageOf(name);
    if (message === undefined)
      throw badRequest(`no kind ${JSON.stringify(kind)} is registered for version ${JSON.stringify(apiVersion)}`);
    const fields = decodeMessage(raw, { message, schema: schemaOf(own) });
    return { kind, apiVersion, ...fields };
  } catch (error) {
    if (error instanceof RangeError) throw badRequest("proto: illegal wireType or unexpected EOF");
    throw error;
  }
}

function envelope(bytes: Uint8Array): { apiVersion: string; kind: string; raw: Uint8Array } {
  const found = { apiVersion: "", kind: "", raw: new Uint8Array() as Uint8Array };
  for (const { number, content } of new WireReader(bytes).fields()) {
    if (number === 2 && content instanceof Uint8Array) found.raw = content;
    if (number !== 1 || !(content instanceof Uint8Array)) continue;
    for (const { number: inner, content: value } of new WireReader(content).fields()) {
      if (inner === 1 && value instanceof Uint8Array) found.apiVersion = text(value);
      if (inner === 2 && value instanceof Uint8Array) found.kind = text(value);
    }
  }
  return found;
}

interface Place {
  readonly message: Message;
  readonly schema: Schema | undefined;
}

function decodeMessage(bytes: Uint8Array, { message, schema }: Place): Fields {
  const fields: Fields = {};
  for (const { number, content } of new WireReader(bytes).fields()) {
    const row = message.fields.get(number);
    if (row === undefined) continue;
    const [, name, type, isRepeated] = row;
    const inner = schema?.properties?.get(name);
    if (type.startsWith("<")) {
      const map = (fields[name] ??= {}) as Fields;
      const [key, value] = decodeEntry(content as Uint8Array, { type: type.slice(1), schema: inner?.additional });
      setField(map, key, value);
    } else if (isRepeated === 1) {
      const list = (fields[name] ??= []) as unknown[];
      list.push(decodeValue(content, { type, schema: inner?.items }));
    } else if (
      inner === undefined &&
      schema?.properties !== undefined &&
      messageOf(type) !== undefined &&
      !fromOwnMessage.has(type)
    ) {
      // An embedded Go struct: its fields belong to the struct that contains it.
      const embedded = messageOf(type);
      if (embedded !== undefined)
        Object.assign(fields, decodeMessage(content as Uint8Array, { message: embedded, schema }));
    } else {
      fields[name] = decodeValue(content, { type, schema: inner });
    }
  }
  return fields;
}

interface Value {
  readonly type: string;
  readonly schema: Schema | undefined;
}

function decodeEntry(bytes: Uint8Array, value: Value): [string, unknown] {
  let key = "";
  let decoded: unknown = value.type === "string" || value.type === "bytes" ? "" : undefined;
  for (const { number, content } of new WireReader(bytes).fields()) {
    if (number === 1) key = text(content as Uint8Array);
    if (number === 2) decoded = decodeValue(content, value);
  }
  return [key, decoded ?? decodeValue(new Uint8Array(), value)];
}

function decodeValue(content: Uint8Array | bigint, { type, schema }: Value): unknown {
  if (type === "bool") return content !== 0n;
  if (typeof content === "bigint") return asInteger(BigInt.asIntN(64, content));
  if (type === "string") return text(content);
  if (type === "bytes") return Buffer.from(content).toString("base64");
  if (type === "double") return new DataView(content.buffer, content.byteOffset).getFloat64(0, true);
  const own = fromOwnMessage.get(type);
  if (own !== undefined) return own(content);
  const message = messageOf(type);
  if (message === undefined) return undefined;
  const either = eithers.get(type);
  const fields = decodeMessage(content, { message, schema: either === undefined ? schema : undefined });
  if (either !== undefined) return either.fromFields(fields);
  // A named list type is a message around the list.
  if (schema?.type === "array" && message.fields.size === 1) return fields["items"] ?? [];
  return fields;
}

function text(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes);
}
