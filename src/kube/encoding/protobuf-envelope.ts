/** The envelope that kube-apiserver puts around protocol buffers. */
import { type ProtobufReader, tagOf } from "./protobuf-reader.ts";

/** The magic number: `k8s` and a zero byte. */
const MARK = [0x6b, 0x38, 0x73, 0x00] as const;
const ENVELOPE = { type: tagOf(1), raw: tagOf(2) } as const;
const TYPE = { kind: tagOf(2) } as const;

/** Whether a body consists of protocol buffers rather than JSON, which its first bytes show. */
export function isMarked(bytes: Uint8Array): boolean {
  return MARK.every((byte, index) => bytes[index] === byte);
}

/**
 * Reads up to the message in the envelope.
 *
 * @returns the message's kind, and where it ends.
 * @throws RangeError when there is no envelope.
 * @see https://kubernetes.io/docs/reference/using-api/api-concepts/#protobuf-encoding-idl
 */
export function openEnvelope(reader: ProtobufReader): { readonly kind: string; readonly end: number } {
  for (const byte of MARK) if (reader.bytes[reader.at++] !== byte) throw new RangeError("there is no envelope");
  let kind = "";
  for (;;) {
    const tag = reader.varint();
    if (tag === ENVELOPE.raw) return { kind, end: reader.end() };
    if (tag !== ENVELOPE.type) {
      reader.skip(tag);
      continue;
    }
    const end = reader.end();
    while (reader.at < end) {
      const typeTag = reader.varint();
      if (typeTag === TYPE.kind) kind = reader.text();
      else reader.skip(typeTag);
    }
  }
}
