/** Makes a certificate signing request, PKCS #10. */
import { createSign, type KeyObject } from "node:crypto";

function tagged(tag: number, ...parts: readonly Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  const long = content.length < 256 ? [0x81, content.length] : [0x82, content.length >> 8, content.length & 255];
  const length = content.length < 128 ? [content.length] : long;
  return Buffer.concat([Buffer.from([tag, ...length]), content]);
}

interface KeyPair {
  readonly publicKey: KeyObject;
  readonly privateKey: KeyObject;
}

/** Returns a request for the common name `show` (PEM). */
export function signingRequest({ publicKey, privateKey }: KeyPair): string {
  const commonName = Buffer.from([0x06, 0x03, 0x55, 0x04, 0x03]);
  const subject = tagged(0x30, tagged(0x31, tagged(0x30, commonName, tagged(0x0c, Buffer.from("show")))));
  const key = publicKey.export({ type: "spki", format: "der" });
  const info = tagged(0x30, Buffer.from([0x02, 0x01, 0x00]), subject, key, Buffer.from([0xa0, 0x00]));
  const signature = createSign("sha256").update(info).sign(privateKey);
  const ecdsaWithSha256 = Buffer.from("300a06082a8648ce3d040302", "hex");
  const request = tagged(0x30, info, ecdsaWithSha256, tagged(0x03, Buffer.from([0]), signature));
  const body = request.toString("base64").replaceAll(/.{64}/g, "$&\n");
  return `-----BEGIN CERTIFICATE REQUEST-----\n${body.trimEnd()}\n-----END CERTIFICATE REQUEST-----\n`;
}
