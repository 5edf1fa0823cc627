/**
 * Decodes protobuf responses into comparable objects: every field that is present, zero values included, under its
 * name.
 */
import { messageOf, nameOf, meta } from "../src/protobuf/messages.ts";
import { WireReader } from "../src/protobuf/wire-reader.ts";

type Fields = Record<string, unknown>;

/** Returns whether a response is in protobuf. */
export function isProtobuf({ headers }: Response): boolean {
  return (headers.get("content-type") ?? "").startsWith("application/vnd.kubernetes.protobuf");
}

const machinery = "k8s.io.apimachinery.pkg";

/** Decodes an envelope and its object; returns the text where the bytes have no envelope. */
export function readProtobuf(bytes: Uint8Array): unknown {
  if (Buffer.from(bytes.subarray(0, 4)).toString() !== "k8s\0") return Buffer.from(bytes).toString();
  const whole = parts(bytes.subarray(4));
  const type = parts(whole.get(1) as Uint8Array);
  const [apiVersion, kind] = [text(type.get(1)), text(type.get(2))];
  const slash = apiVersion.indexOf("/");
  const own = { group: apiVersion.slice(0, Math.max(slash, 0)), version: apiVersion.slice(slash + 1), kind };
  const message = messageOf(nameOf(own)) === undefined ? `${meta}.${kind}` : nameOf(own);
  return { kind, apiVersion, ...readMessage(whole.get(2) as Uint8Array, message) };
}

/** Decodes the complete events of a stream, and returns the bytes of an incomplete one. */
export function readEvents(bytes: Uint8Array): { readonly events: unknown[]; readonly rest: Uint8Array } {
  const events: unknown[] = [];
  let at = 0;
  while (bytes.length - at >= 4) {
    const length = new DataView(bytes.buffer, bytes.byteOffset + at).getUint32(0);
    if (bytes.length - at < 4 + length) break;
    const event = parts(bytes.subarray(at + 4, at + 4 + length));
    const object = parts(event.get(2) as Uint8Array);
    events.push({ type: text(event.get(1)), object: readProtobuf(object.get(1) as Uint8Array) });
    at += 4 + length;
  }
  return { events, rest: bytes.subarray(at) };
}

type Content = Uint8Array | bigint;

/** Returns the fields of a message by number. */
function parts(bytes: Uint8Array): Map<number, Content> {
  return new Map(Array.from(new WireReader(bytes).fields(), ({ number, content }) => [number, content]));
}

function readMessage(bytes: Uint8Array, name: string): Fields {
  const message = messageOf(name);
  const fields: Fields = {};
  for (const { number, content } of new WireReader(bytes).fields()) {
    const row = message?.fields.get(number);
    if (row === undefined) {
      fields[`(${number})`] = typeof content === "bigint" ? String(content) : Buffer.from(content).toString("base64");
      continue;
    }
    const [, field, type, isRepeated] = row;
    if (type.startsWith("<")) {
      const map = (fields[field] ??= {}) as Fields;
      const entry = parts(content as Uint8Array);
      map[text(entry.get(1))] = readValue(entry.get(2) ?? new Uint8Array(), type.slice(1));
    } else if (isRepeated === 1) ((fields[field] ??= []) as unknown[]).push(readValue(content, type));
    else fields[field] = readValue(content, type);
  }
  return fields;
}

function readValue(content: Content, type: string): unknown {
  if (typeof content === "bigint") return type === "bool" ? content !== 0n : Number(BigInt.asIntN(64, content));
  if (type === "string") return text(content);
  if (messageOf(type) === undefined) return Buffer.from(content).toString("base64");
  const read = readMessage(content, type);
  if (type === `${machinery}.apis.meta.v1.Time` || type === `${machinery}.apis.meta.v1.MicroTime`) return time(read);
  const raw = read["Raw"] ?? read["raw"];
  return typeof raw === "string" ? embedded(raw) : read;
}

function time(fields: Fields): unknown {
  const { seconds } = fields;
  if (typeof seconds !== "number") return fields;
  return `${new Date(seconds * 1000).toISOString().slice(0, 19)}Z`;
}

function embedded(raw: string): unknown {
  const json = Buffer.from(raw, "base64").toString();
  try {
    return JSON.parse(json) as unknown;
  } catch {
    return json;
  }
}

function text(content: Content | undefined): string {
  return content instanceof Uint8Array ? Buffer.from(content).toString() : "(absent)";
}
