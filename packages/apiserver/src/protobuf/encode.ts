/** Encodes objects in Kubernetes' protobuf format, with the same fields present as in the generated Go code. */
import type { Fields } from "../hooks.ts";
import type { Schema } from "../schema/schema.ts";
import { eithers } from "./either.ts";
import { type FieldRow, type Kind, type Message, messageOf, meta, nameOf } from "./messages.ts";
import { writeOwn } from "./own-messages.ts";
import { WireWriter } from "./wire-writer.ts";

const prefix = Buffer.from("k8s\0");

/** Kinds that belong to no API group. */
const metaKinds: ReadonlySet<string> = new Set([
  "Status",
  "APIVersions",
  "APIGroup",
  "APIGroupList",
  "APIResourceList",
  "PartialObjectMetadata",
  "PartialObjectMetadataList",
]);

/**
 * Encodes an object in its envelope.
 *
 * @returns `undefined` for a kind without a protobuf message
 */
export function encodeProtobuf(object: Fields, schemaOf: (kind: Kind) => Schema | undefined): Buffer | undefined {
  const { apiVersion = "", kind = "", ...fields } = object as Fields & { apiVersion?: string; kind?: string };
  const slash = apiVersion.indexOf("/");
  const own = { group: apiVersion.slice(0, Math.max(0, slash)), version: apiVersion.slice(slash + 1), kind };
  const message = messageOf(metaKinds.has(kind) ? `${meta}.${kind}` : nameOf(own));
  if (message === undefined) return undefined;
  const isList = kind.endsWith("List") && Array.isArray(fields["items"]);
  const schema = schemaOf(own) ?? (isList ? listSchema(schemaOf({ ...own, kind: kind.slice(0, -4) })) : undefined);
  const to = new WireWriter();
  to.text(4, "");
  to.text(3, "");
  to.message(2, () => writeMessage(to, fields, { message, schema }));
  to.message(1, () => {
    to.text(2, kind);
    to.text(1, apiVersion);
  });
  return Buffer.concat([prefix, to.finish()]);
}

/** Encodes one event of a watch, preceded by its length. */
export function encodeEvent(type: string, object: Buffer): Buffer {
  const event = new WireWriter(object.length + 64);
  event.message(2, () => event.bytes(1, object));
  event.text(1, type);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(event.length);
  return Buffer.concat([length, event.finish()]);
}

type ListSchema = Pick<Schema, "properties">;

function listSchema(items: Schema | undefined): ListSchema | undefined {
  return items && { properties: new Map([["items", { ...items, type: "array", items, go: undefined } as Schema]]) };
}

interface Place {
  readonly message: Message;
  readonly schema: ListSchema | undefined;
}

function writeMessage(to: WireWriter, value: Fields, { message, schema }: Place): void {
  for (let index = message.rows.length - 1; index >= 0; index--)
    writeField(to, value, { row: message.rows[index]!, schema });
}

/** The pointer fields of the kinds that have no schema here. */
const pointers: ReadonlySet<string> = new Set([
  "details",
  "remainingItemCount",
  "shardInfo",
  "managedFields",
  "deletionTimestamp",
  "deletionGracePeriodSeconds",
]);

interface FieldPlace {
  readonly row: FieldRow;
  readonly schema: ListSchema | undefined;
}

function writeField(to: WireWriter, value: Fields, { row, schema }: FieldPlace): void {
  const [number, name, type, isRepeated] = row;
  const member = value[name];
  const isAbsent = member === undefined || member === null;
  const isMany = isRepeated === 1 || type.startsWith("<");
  if (isMany && isAbsent) return;
  const inner = schema?.properties?.get(name);
  if (type.startsWith("<")) return writeMap(to, member as Fields, { row, schema });
  if (isRepeated === 1) {
    const items = member as unknown[];
    for (let index = items.length - 1; index >= 0; index--)
      writeValue(to, { number, value: items[index], type, schema: inner?.items });
    return;
  }
  if (isAbsent) {
    if (isNil({ name, type, inner, schema })) return;
    const embedded = isEmbedded({ name, type, inner, schema }) ? messageOf(type) : undefined;
    // In JSON, the fields of an embedded Go struct are fields of the struct that embeds it.
    if (embedded !== undefined) return to.message(number, () => writeMessage(to, value, { message: embedded, schema }));
  }
  // A union holds schemas of the same type as the schema that contains it.
  writeValue(to, { number, value: member, type, schema: eithers.has(type) ? (schema as Schema | undefined) : inner });
}

function writeMap(to: WireWriter, map: Fields, { row: [number, name, type], schema }: FieldPlace): void {
  const of = type.slice(1);
  const within = eithers.has(of) ? (schema as Schema | undefined) : schema?.properties?.get(name)?.additional;
  const keys = Object.keys(map).toSorted();
  for (let index = keys.length - 1; index >= 0; index--) {
    const key = keys[index]!;
    to.message(number, () => {
      writeValue(to, { number: 2, value: map[key], type: of, schema: within });
      to.text(1, key);
    });
  }
}

interface Absent {
  readonly name: string;
  readonly type: string;
  readonly inner: Schema | undefined;
  readonly schema: ListSchema | undefined;
}

function isEmbedded({ name, type, inner, schema }: Absent): boolean {
  return (
    inner === undefined &&
    schema?.properties !== undefined &&
    name !== "metadata" &&
    !writeOwn.has(type) &&
    messageOf(type) !== undefined
  );
}

/** Whether an absent field is nil in Go, and so not encoded: pointers, lists, maps and bytes are. */
function isNil(absent: Absent): boolean {
  const { name, type, inner, schema } = absent;
  if (inner?.go !== undefined) return inner.go.pointer || type === "bytes" || inner.type === "array";
  if (isEmbedded(absent)) return false;
  if (schema?.properties !== undefined && name !== "metadata") return true;
  return pointers.has(name) || type === "bytes";
}

interface Value {
  readonly number: number;
  readonly value: unknown;
  readonly type: string;
  readonly schema: Schema | undefined;
}

function writeValue(to: WireWriter, { number, value, type, schema }: Value): void {
  if (type === "string") return to.text(number, String(value ?? ""));
  if (type === "bytes") return to.bytes(number, Buffer.from(String(value ?? ""), "base64"));
  if (type === "bool") return to.number(number, value === true ? 1 : 0);
  if (type === "double") return to.double(number, Number(value ?? 0));
  const own = writeOwn.get(type);
  if (own !== undefined) return to.message(number, () => own(to, value));
  const message = messageOf(type);
  if (message === undefined) return to.number(number, (value ?? 0) as number | bigint);
  const either = eithers.get(type);
  if (either !== undefined) {
    const fields = either.toFields(value);
    return to.message(number, () => {
      for (let index = message.rows.length - 1; index >= 0; index--)
        writeEither(to, fields, { row: message.rows[index]!, schema });
    });
  }
  // A named list type is a message around the list.
  const fields = Array.isArray(value) ? { items: value } : ((value ?? {}) as Fields);
  const inner = Array.isArray(value) ? undefined : schema;
  to.message(number, () => writeMessage(to, fields, { message, schema: inner }));
}

/** Writes one alternative of a union; schemas in it have the type of the schema that contains the union. */
function writeEither(to: WireWriter, fields: Fields, { row, schema }: FieldPlace): void {
  const [number, name, type, isRepeated] = row;
  const member = fields[name];
  if (member === undefined) return type === "bool" ? to.number(number, 0) : undefined;
  const items = isRepeated === 1 ? (member as unknown[]) : [member];
  for (const value of items.toReversed()) writeValue(to, { number, value, type, schema: schema as Schema | undefined });
}
