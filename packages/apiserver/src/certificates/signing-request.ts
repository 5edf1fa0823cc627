/** Checks certificate requests (PKCS#10) and the certificates that signers issue. */
import { createPublicKey, verify } from "node:crypto";

interface Value {
  readonly tag: number;
  readonly content: Buffer;
  /** The encoding with tag and length. */
  readonly whole: Buffer;
}

/** Reads consecutive values of DER; `undefined` when they are broken. */
function values(bytes: Buffer): Value[] | undefined {
  const list: Value[] = [];
  for (let at = 0; at < bytes.length;) {
    const start = at;
    const tag = bytes[at++]!;
    let length = bytes[at++];
    if (length === undefined || length === 0x80) return undefined;
    if (length > 0x80) {
      const digits = length & 0x7f;
      length = 0;
      for (const byte of bytes.subarray(at, at + digits)) length = length * 256 + byte;
      at += digits;
    }
    if (at + length > bytes.length) return undefined;
    list.push({ tag, content: bytes.subarray(at, at + length), whole: bytes.subarray(start, at + length) });
    at += length;
  }
  return list;
}

const sequenceTag = 0x30;
const algorithms: Readonly<Record<string, string | null>> = {
  "2a864886f70d010105": "sha1",
  "2a864886f70d01010b": "sha256",
  "2a864886f70d01010c": "sha384",
  "2a864886f70d01010d": "sha512",
  "2a8648ce3d040302": "sha256",
  "2a8648ce3d040303": "sha384",
  "2a8648ce3d040304": "sha512",
  "2b6570": null,
};

/** Returns why the text of a request is not valid; `undefined` when it is. */
export function signingRequestProblem(text: string): string | undefined {
  const [block] = pemBlocks(text);
  if (block?.type !== "CERTIFICATE REQUEST") return "PEM block type must be CERTIFICATE REQUEST";
  const [request, ...rest] = values(block.bytes) ?? [];
  const isSequence = request?.tag === sequenceTag && rest.length === 0;
  const [info, algorithm, signature] = (isSequence ? values(request.content) : undefined) ?? [];
  const [, key] =
    (info?.tag === sequenceTag ? values(info.content) : [])?.filter(({ tag }) => tag === sequenceTag) ?? [];
  const [oid] = (algorithm && values(algorithm.content)) ?? [];
  if (!info || !key || !oid || !signature) return "it is no certificate request";
  const hash = algorithms[oid.content.toString("hex")];
  if (hash === undefined) return "the algorithm of its signature is unknown";
  try {
    const publicKey = createPublicKey({ key: key.whole, format: "der", type: "spki" });
    if (verify(hash, info.whole, publicKey, signature.content.subarray(1))) return undefined;
    return "its signature is not that of its key";
  } catch {
    return "its key cannot be read";
  }
}

/** Returns why the certificates of a signer are not valid; `undefined` when they are. */
export function certificatesProblem(text: string): string | undefined {
  const blocks = pemBlocks(text);
  for (const { type, hasHeaders, bytes } of blocks) {
    if (type !== "CERTIFICATE") return `only CERTIFICATE PEM blocks are allowed, found ${JSON.stringify(type)}`;
    if (hasHeaders) return "no PEM block headers are permitted";
    const parts = values(bytes) ?? [];
    if (parts.length === 0 || parts.some(({ tag }) => tag !== sequenceTag)) return "a block is no certificate";
  }
  return blocks.length === 0 ? "must contain at least one CERTIFICATE PEM block" : undefined;
}

interface PemBlock {
  /** The block's type, such as `CERTIFICATE`. */
  readonly type: string;
  readonly hasHeaders: boolean;
  readonly bytes: Buffer;
}

const begin = /(?<![^\n])-----BEGIN ([^\n]*?)-----[ \t\r]*\n/g;
const end = /(?<![^\n])-----END ([^\n]*?)-----[ \t\r]*(?:\n|$)/g;

/** Finds every well-formed block of a text as Go's `encoding/pem` does; the text between them is ignored. */
function pemBlocks(text: string): PemBlock[] {
  const blocks: PemBlock[] = [];
  begin.lastIndex = 0;
  for (let first = begin.exec(text); first !== null; first = begin.exec(text)) {
    end.lastIndex = begin.lastIndex;
    const last = end.exec(text);
    if (last === null) break; // neither has any later block an end
    const type = first[1]!;
    const lines = text.slice(begin.lastIndex, last.index).split("\n");
    const headers = lines.findIndex((line) => !line.includes(":"));
    const hasHeaders = headers > 0;
    const content = (hasHeaders ? lines.slice(headers) : lines).join("").replace(/[\s]/g, "");
    const isBase64 = /^[A-Za-z0-9+/]*={0,2}$/.test(content) && content.length % 4 === 0;
    if (last[1] === type && isBase64) blocks.push({ type, hasHeaders, bytes: Buffer.from(content, "base64") });
    begin.lastIndex = end.lastIndex;
  }
  return blocks;
}
