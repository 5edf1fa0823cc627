/**
 * Issues certificates: an authority that signs itself, and server certificates that it signs, with ECDSA P-256 and
 * SHA-256.
 *
 * Import this file lazily: most processes read certificates that somebody else has issued, and the library is large.
 */
import { Integer, BitString, OctetString, Utf8String } from "asn1js";
import {
  AttributeTypeAndValue,
  AuthorityKeyIdentifier,
  BasicConstraints,
  Certificate,
  CryptoEngine,
  Extension,
  ExtKeyUsage,
  GeneralName,
  GeneralNames,
} from "pkijs";
import { addressBytes } from "../../kube/config/ip-address.ts";

/** A certificate and its private key, both PEM. */
export interface KeyPair {
  readonly cert: string;
  readonly key: string;
}

/** Times in milliseconds since the epoch. */
export interface Lifetime {
  readonly from: number;
  readonly until: number;
}

/** A value that is encoded as the DER of an extension. */
interface Encodable {
  toBER(): ArrayBuffer;
}

const P256 = { name: "ECDSA", namedCurve: "P-256" } as const;
const SERIAL_BYTES = 16;
const SERVER_AUTHENTICATION = "1.3.6.1.5.5.7.3.1";
/**
 * The first byte of KeyUsage, and how many of its bits are unused. @see
 * https://www.rfc-editor.org/rfc/rfc5280#section-4.2.1.3
 */
const SIGNS_CERTIFICATES = { bits: 0b0000_0110, unused: 1 } as const;
const SIGNS = { bits: 0b1000_0000, unused: 7 } as const;
/** The kinds of GeneralName. @see https://www.rfc-editor.org/rfc/rfc5280#section-4.2.1.6 */
const DNS_NAME = 2;
const ADDRESS = 7;

const engine = new CryptoEngine({ name: "webcrypto", crypto: globalThis.crypto });

/** Creates an authority. Each has a name of its own, because two of them are trusted side by side for a while. */
export async function createAuthority(lifetime: Lifetime): Promise<KeyPair> {
  const keys = await newKeys();
  const certificate = new Draft(keys, lifetime);
  certificate.subject = `binnacle webhook authority ${Buffer.from(certificate.serial).toString("hex")}`;
  certificate.issuer = certificate.subject;
  certificate.add("2.5.29.19", new BasicConstraints({ cA: true }).toSchema(), { critical: true });
  certificate.add("2.5.29.15", keyUsage(SIGNS_CERTIFICATES), { critical: true });
  certificate.add("2.5.29.14", new OctetString({ valueHex: await keyIdentifier(keys.publicKey) }));
  return certificate.signedBy(keys.privateKey);
}

/**
 * Issues a server certificate, signed by an authority of {@link createAuthority}.
 *
 * @param server `hosts` are DNS names and IP addresses.
 */
export async function issueServerCertificate(
  authority: KeyPair,
  server: Lifetime & { readonly hosts: readonly string[] },
): Promise<KeyPair> {
  const signer = Certificate.fromBER(derOf(authority.cert));
  const signerKey = await crypto.subtle.importKey("pkcs8", derOf(authority.key), P256, false, ["sign"]);
  const signerIdentifier = await keyIdentifier(await signer.getPublicKey(undefined, engine));
  const certificate = new Draft(await newKeys(), server);
  // A name that is too long for a common name is still an alternative name, and only those count.
  certificate.subject = server.hosts.find((host) => host.length <= 64) ?? "webhook";
  certificate.issuer = signer.subject.typesAndValues[0]?.value.valueBlock.value ?? "";
  certificate.add("2.5.29.15", keyUsage(SIGNS), { critical: true });
  certificate.add("2.5.29.37", new ExtKeyUsage({ keyPurposes: [SERVER_AUTHENTICATION] }).toSchema());
  const keyIdentifierOfSigner = new OctetString({ valueHex: signerIdentifier });
  certificate.add("2.5.29.35", new AuthorityKeyIdentifier({ keyIdentifier: keyIdentifierOfSigner }).toSchema());
  certificate.add("2.5.29.17", new GeneralNames({ names: server.hosts.map(generalName) }).toSchema());
  return certificate.signedBy(signerKey);
}

/** A certificate under construction. */
class Draft {
  readonly serial: Uint8Array<ArrayBuffer> = newSerial();
  subject = "";
  issuer = "";
  readonly #certificate = new Certificate();
  readonly #keys: CryptoKeyPair;

  constructor(keys: CryptoKeyPair, { from, until }: Lifetime) {
    this.#keys = keys;
    const certificate = this.#certificate;
    certificate.version = 2; // version 3 is encoded as 2
    certificate.serialNumber = new Integer({ valueHex: this.serial.buffer });
    certificate.notBefore.value = new Date(from);
    certificate.notAfter.value = new Date(until);
    certificate.extensions = [];
  }

  add(extnID: string, value: Encodable, { critical = false } = {}): void {
    this.#certificate.extensions?.push(new Extension({ extnID, critical, extnValue: value.toBER() }));
  }

  async signedBy(signer: CryptoKey): Promise<KeyPair> {
    const certificate = this.#certificate;
    certificate.subject.typesAndValues.push(commonName(this.subject));
    certificate.issuer.typesAndValues.push(commonName(this.issuer));
    await certificate.subjectPublicKeyInfo.importKey(this.#keys.publicKey, engine);
    await certificate.sign(signer, "SHA-256", engine);
    return {
      cert: pem("CERTIFICATE", certificate.toSchema(true).toBER()),
      key: pem("PRIVATE KEY", await crypto.subtle.exportKey("pkcs8", this.#keys.privateKey)),
    };
  }
}

function newKeys(): Promise<CryptoKeyPair> {
  return crypto.subtle.generateKey(P256, true, ["sign", "verify"]);
}

/** Returns a positive number without a leading zero byte, because both would be encoded with another length. */
function newSerial(): Uint8Array<ArrayBuffer> {
  const serial = crypto.getRandomValues(new Uint8Array(SERIAL_BYTES));
  serial[0] = (serial[0]! & 0x7f) | 0x40;
  return serial;
}

function commonName(value: string): AttributeTypeAndValue {
  return new AttributeTypeAndValue({ type: "2.5.4.3", value: new Utf8String({ value }) });
}

function keyUsage({ bits, unused }: { readonly bits: number; readonly unused: number }): Encodable {
  return new BitString({ valueHex: new Uint8Array([bits]).buffer, unusedBits: unused });
}

/** Returns the SHA-1 of the public key's bits. @see https://www.rfc-editor.org/rfc/rfc5280#section-4.2.1.2 */
async function keyIdentifier(key: CryptoKey): Promise<ArrayBuffer> {
  return crypto.subtle.digest("SHA-1", await crypto.subtle.exportKey("raw", key));
}

function generalName(host: string): GeneralName {
  const bytes = addressBytes(host);
  if (bytes === undefined) return new GeneralName({ type: DNS_NAME, value: host });
  return new GeneralName({ type: ADDRESS, value: new OctetString({ valueHex: new Uint8Array(bytes).buffer }) });
}

function derOf(text: string): ArrayBuffer {
  const base64 = text.replaceAll(/-----[^-]+-----|\s/g, "");
  return new Uint8Array(Buffer.from(base64, "base64")).buffer;
}

function pem(label: string, der: ArrayBuffer): string {
  const lines =
    Buffer.from(der)
      .toString("base64")
      .match(/.{1,64}/g) ?? [];
  return `-----BEGIN ${label}-----\n${lines.join("\n")}\n-----END ${label}-----\n`;
}
