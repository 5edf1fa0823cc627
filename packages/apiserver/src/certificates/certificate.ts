/** Issues certificates: an authority that signs itself, and servers and clients that it signs, with ECDSA P-256 and SHA-256. */

import { createHash, generateKeyPairSync, randomBytes, sign, X509Certificate } from "node:crypto";
import { isIPv4, isIPv6 } from "node:net";
import { bits, boolean, explicit, identifier, integer, octets, sequence, set, text, time, value } from "./der.ts";

/** A certificate and its private key, both PEM. */
export interface Certificate {
  readonly cert: string;
  readonly key: string;
}

export interface Subject {
  /** The common name (CN), which is the user name of a client. */
  readonly name: string;
  /** The organizations (O), which are the groups of that user. */
  readonly groups?: readonly string[] | undefined;
}

/** When a certificate is valid, in milliseconds since the epoch. */
export interface Lifetime {
  /** @default a day ago */
  readonly from?: number | undefined;
  /** @default in ten years */
  readonly until?: number | undefined;
}

export interface IssueOptions extends Lifetime {
  readonly subject: Subject;
  /** The DNS names and IP addresses of a server; a certificate without any is a client's. */
  readonly hosts?: readonly string[] | undefined;
}

interface Names {
  readonly subject: Buffer;
  readonly issuer: Buffer;
}

const day = 24 * 60 * 60 * 1000;
const ecdsaWithSha256 = sequence(identifier("1.2.840.10045.4.3.2"));

export interface AuthorityOptions extends Lifetime {
  /** The authority that signs this one, which makes it an intermediate. @default it signs itself */
  readonly issuer?: Certificate | undefined;
}

/** Creates an authority. */
export function createAuthority(name: string, { issuer, ...lifetime }: AuthorityOptions = {}): Certificate {
  const { privateKey: key, publicKey } = newKeyPair();
  const spki = publicKey.export({ type: "spki", format: "der" });
  const parent = issuer && new X509Certificate(issuer.cert);
  const extensions = [
    extension("2.5.29.19", sequence(boolean(true)), true),
    extension("2.5.29.15", bits(Buffer.from([0b00000110]), 1), true), // keyCertSign, cRLSign
    extension("2.5.29.14", octets(keyIdentifier(spki))),
    ...(parent === undefined ? [] : [issuedBy(parent)]),
  ];
  const issuerName = parent === undefined ? name : commonName(parent);
  const names = { subject: distinguishedName({ name }), issuer: distinguishedName({ name: issuerName }) };
  return { cert: signed(names, spki, { ...lifetime, extensions, signer: issuer?.key ?? key }), key: pkcs8(key) };
}

/**
 * Issues a certificate for a server or client, signed by an authority of {@link createAuthority}.
 *
 * @throws Error when a host is neither an address nor ASCII.
 */
export function issue(authority: Certificate, options: IssueOptions): Certificate {
  const { privateKey: key, publicKey } = newKeyPair();
  const spki = publicKey.export({ type: "spki", format: "der" });
  const parent = new X509Certificate(authority.cert);
  const usage = options.hosts === undefined ? "1.3.6.1.5.5.7.3.2" : "1.3.6.1.5.5.7.3.1"; // clientAuth, serverAuth
  const extensions = [
    extension("2.5.29.15", bits(Buffer.from([0b10000000]), 7), true), // digitalSignature
    extension("2.5.29.37", sequence(identifier(usage))),
    issuedBy(parent),
    ...(options.hosts === undefined ? [] : [extension("2.5.29.17", sequence(...options.hosts.map(generalName)))]),
  ];
  const names = {
    subject: distinguishedName(options.subject),
    issuer: distinguishedName({ name: commonName(parent) }),
  };
  const cert = signed(names, spki, { ...options, extensions, signer: authority.key });
  return { cert, key: pkcs8(key) };
}

/**
 * Creates a private key that signs service account tokens. It is in SEC1 form, the only one that kube-apiserver accepts
 * for that key.
 */
export function createKey(): string {
  return newKeyPair().privateKey.export({ type: "sec1", format: "pem" });
}

type PrivateKey = ReturnType<typeof newKeyPair>["privateKey"];

interface SigningOptions extends Lifetime {
  readonly extensions: readonly Buffer[];
  readonly signer: PrivateKey | string;
}

function signed(names: Names, spki: Buffer, { extensions, signer, ...lifetime }: SigningOptions): string {
  const { until = Date.now() + 3650 * day, from = Math.min(Date.now(), until) - day } = lifetime;
  const body = sequence(
    explicit(0, integer(Buffer.from([2]))),
    integer(randomBytes(16)),
    ecdsaWithSha256,
    names.issuer,
    sequence(time(new Date(from)), time(new Date(until))),
    names.subject,
    spki,
    explicit(3, sequence(...extensions)),
  );
  return pem("CERTIFICATE", sequence(body, ecdsaWithSha256, bits(sign("sha256", body, signer))));
}

/** The name of an authority of {@link createAuthority}, whose subject is nothing else. */
function commonName({ subject }: X509Certificate): string {
  return subject.slice("CN=".length);
}

function newKeyPair() {
  return generateKeyPairSync("ec", { namedCurve: "prime256v1" });
}

function pkcs8(key: PrivateKey): string {
  return key.export({ type: "pkcs8", format: "pem" });
}

function distinguishedName({ name, groups = [] }: Subject): Buffer {
  const attribute = (type: string, content: string) => set(sequence(identifier(type), text(content)));
  return sequence(...groups.map((group) => attribute("2.5.4.10", group)), attribute("2.5.4.3", name));
}

function generalName(host: string): Buffer {
  if (isIPv4(host)) return value(0x87, Buffer.from(host.split(".").map(Number)));
  if (isIPv6(host)) return value(0x87, addressBytes(host));
  // Host names are ASCII: other characters are written in Punycode.
  if (!/^[\x21-\x7e]+$/.test(host)) throw new Error(`A certificate cannot name ${JSON.stringify(host)}`);
  return value(0x82, Buffer.from(host));
}

/** The 16 bytes of an address of IPv6, without its zone. The URL parser writes it with at most one run of zeros omitted. */
function addressBytes(host: string): Buffer {
  const halves = new URL(`https://[${host.split("%")[0]}]`).hostname.slice(1, -1).split("::");
  const [head = [], tail = []] = halves.map((half) => half.split(":").filter((group) => group !== ""));
  const zeros = Array.from({ length: 8 - head.length - tail.length }, () => "0");
  const bytes = Buffer.alloc(16);
  for (const [index, group] of [...head, ...zeros, ...tail].entries())
    bytes.writeUInt16BE(Number.parseInt(group, 16), 2 * index);
  return bytes;
}

function extension(type: string, content: Buffer, critical = false): Buffer {
  return sequence(identifier(type), ...(critical ? [boolean(true)] : []), octets(content));
}

/** Names the key that signs, because several authorities may have one name. */
function issuedBy({ publicKey }: X509Certificate): Buffer {
  const spki = publicKey.export({ type: "spki", format: "der" });
  return extension("2.5.29.35", sequence(value(0x80, keyIdentifier(spki))));
}

/** Returns the SHA-1 of the public key's bits (RFC 5280, section 4.2.1.2), which are the last 65 bytes of a P-256 key. */
function keyIdentifier(spki: Buffer): Buffer {
  return createHash("sha1").update(spki.subarray(-65)).digest();
}

function pem(label: string, der: Buffer): string {
  const lines = der.toString("base64").match(/.{1,64}/g) ?? [];
  return `-----BEGIN ${label}-----\n${lines.join("\n")}\n-----END ${label}-----\n`;
}
