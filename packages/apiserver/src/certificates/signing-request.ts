/** Validates a certificate request (PKCS#10) and reports errors in the words of Go's `crypto/x509`. */
import { createPublicKey, verify } from "node:crypto";
import { pemBlocks } from "./pem.ts";

interface Value {
  readonly tag: number;
  readonly content: Buffer;
  /** The encoding with tag and length. */
  readonly whole: Buffer;
}

const truncated = "asn1: syntax error: data truncated";

/** Reads consecutive values; a text explains what is wrong. */
function values(bytes: Buffer): Value[] | string {
  const list: Value[] = [];
  for (let at = 0; at < bytes.length;) {
    const start = at;
    const tag = bytes[at++]!;
    const first = bytes[at++];
    if (first === undefined) return "asn1: syntax error: truncated tag or length";
    let length = first;
    if (first >= 0x80) {
      const digits = first & 0x7f;
      if (digits === 0) return "asn1: syntax error: indefinite length found (not DER)";
      if (at + digits > bytes.length) return "asn1: syntax error: truncated tag or length";
      length = 0;
      for (const byte of bytes.subarray(at, at + digits)) length = length * 256 + byte;
      at += digits;
    }
    if (at + length > bytes.length) return truncated;
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

/** Explains what is wrong with the text of a request; `undefined` when it is valid. */
export function signingRequestProblem(text: string): string | undefined {
  const [block] = pemBlocks(text);
  if (block?.type !== "CERTIFICATE REQUEST") return "PEM block type must be CERTIFICATE REQUEST";
  const outer = values(block.bytes);
  if (typeof outer === "string") return outer;
  const [request, ...rest] = outer;
  if (request === undefined) return "asn1: syntax error: sequence truncated";
  if (request.tag !== sequenceTag) return mismatch(request.tag, "certificateRequest", "");
  if (rest.length > 0) return "asn1: syntax error: trailing data";
  const parts = values(request.content);
  if (typeof parts === "string") return parts;
  const [info, algorithm, signature] = parts;
  if (info === undefined || algorithm === undefined || signature === undefined)
    return "asn1: syntax error: sequence truncated";
  if (info.tag !== sequenceTag) return mismatch(info.tag, "tbsCertificateRequest", "TBSCSR");
  return signatureProblem(info, algorithm, signature);
}

function mismatch(tag: number, type: string, field: string): string {
  const description = `{class:${tag >> 6} tag:${tag & 0x1f} length:0 isCompound:${(tag & 0x20) !== 0}}`;
  const wanted = "{optional:false explicit:false application:false private:false defaultValue:<nil> tag:<nil>";
  return `asn1: structure error: tags don't match (16 vs ${description}) ${wanted} stringType:0 timeType:0 set:false omitEmpty:false} ${type} @${field === "" ? 2 : 4}`;
}

function signatureProblem(info: Value, algorithm: Value, signature: Value): string | undefined {
  const fields = values(info.content);
  if (typeof fields === "string") return fields;
  const key = fields.filter(({ tag }) => tag === sequenceTag).at(1);
  if (key === undefined) return "asn1: syntax error: sequence truncated";
  const named = values(algorithm.content);
  const oid = typeof named === "string" ? undefined : named[0]?.content.toString("hex");
  const hash = oid === undefined ? undefined : algorithms[oid];
  if (hash === undefined) return "x509: cannot verify signature: algorithm unimplemented";
  try {
    const publicKey = createPublicKey({ key: key.whole, format: "der", type: "spki" });
    if (verify(hash, info.whole, publicKey, signature.content.subarray(1))) return undefined;
    if (publicKey.asymmetricKeyType === "ec") return "x509: ECDSA verification failure";
    if (publicKey.asymmetricKeyType === "ed25519") return "x509: Ed25519 verification failure";
    return "crypto/rsa: verification error";
  } catch {
    return "x509: unsupported elliptic curve";
  }
}

/** Explains what is wrong with the certificates that a signer wrote; `undefined` when they are valid. */
export function certificatesProblem(text: string): string | undefined {
  const blocks = pemBlocks(text);
  for (const { type, hasHeaders, bytes } of blocks) {
    if (type !== "CERTIFICATE") return `only CERTIFICATE PEM blocks are allowed, found ${JSON.stringify(type)}`;
    if (hasHeaders) return "no PEM block headers are permitted";
    const parts = values(bytes);
    if (typeof parts === "string" || parts.some(({ tag }) => tag !== sequenceTag)) return "x509: malformed certificate";
    if (parts.length === 0) return "found CERTIFICATE PEM block containing 0 certificates";
  }
  return blocks.length === 0 ? "must contain at least one CERTIFICATE PEM block" : undefined;
}
