import { generateKeyPairSync, type KeyObject } from "node:crypto";
import { expect, test } from "bun:test";
import { der as asn1 } from "binnacle-apiserver";
import { loopbackServerTls, loopbackTls } from "../../../tests/support/loopback-server.ts";
import { belongTogether } from "./key-pair.ts";

const { bits, identifier, integer, octets, sequence, set, text, time } = asn1;

/** A certificate with this key in it; nobody has signed it. */
function certificateOf(key: KeyObject): string {
  const name = sequence(set(sequence(identifier("2.5.4.3"), text("x"))));
  const algorithm = sequence(identifier("1.2.840.10045.4.3.2"));
  const dates = sequence(time(new Date(0)), time(new Date(4e12)));
  const spki = key.export({ type: "spki", format: "der" });
  const fields = sequence(integer(Buffer.of(1)), algorithm, name, dates, name, spki);
  const der = sequence(fields, algorithm, bits(octets(Buffer.of(1))));
  return `-----BEGIN CERTIFICATE-----\n${der.toString("base64")}\n-----END CERTIFICATE-----\n`;
}

const pairs = {
  rsa: [generateKeyPairSync("rsa", { modulusLength: 2048 }), generateKeyPairSync("rsa", { modulusLength: 2048 })],
  ec: [generateKeyPairSync("ec", { namedCurve: "P-384" }), generateKeyPairSync("ec", { namedCurve: "P-384" })],
  ed25519: [generateKeyPairSync("ed25519"), generateKeyPairSync("ed25519")],
} as const;

test.each([
  ["rsa", "pkcs1"],
  ["rsa", "pkcs8"],
  ["ec", "sec1"],
  ["ec", "pkcs8"],
  ["ed25519", "pkcs8"],
] as const)("belongTogether tells keys of %s as %s from others", (kind, type) => {
  const [one, other] = pairs[kind];
  const pem = (key: KeyObject): string => key.export({ type: type as "pkcs8", format: "pem" });
  expect(belongTogether(certificateOf(one.publicKey), pem(one.privateKey))).toBe(true);
  expect(belongTogether(certificateOf(one.publicKey), pem(other.privateKey))).toBe(false);
});

test("belongTogether says no to what is no pair", () => {
  expect(belongTogether(loopbackTls.cert!, loopbackTls.key!)).toBe(true);
  expect(belongTogether(loopbackTls.cert!, loopbackServerTls.key)).toBe(false);
  expect(belongTogether(loopbackTls.cert!, "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----")).toBe(false);
  expect(belongTogether("nonsense", loopbackTls.key!)).toBe(false);
});
