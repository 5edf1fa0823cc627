import { X509Certificate } from "node:crypto";
import { expect, test } from "bun:test";
import { loopbackTls } from "../../../tests/support/loopback-server.ts";
import { validityOf } from "./certificate-validity.ts";

// Self-signed, valid from 1999-12-31 to 2060-02-29: before and after the years that two digits can tell.
const LONG = `-----BEGIN CERTIFICATE-----
MIIBCDCBrgIBATAKBggqhkjOPQQDAjAPMQ0wCwYDVQQDDARsb25nMCAXDTk5MTIz
MTIzNTk1OVoYDzIwNjAwMjI5MTIwMDAwWjAPMQ0wCwYDVQQDDARsb25nMFkwEwYH
KoZIzj0CAQYIKoZIzj0DAQcDQgAEfHrKEaCQnoroa3MzEo62lzt//P1gLXLsLLgN
dVCKPCcASvWJdKjZ2ZPHhv2maNVbmS9TVlanUREFui8JRr1ROzAKBggqhkjOPQQD
AgNJADBGAiEAll82kbIpKC8aF0t4YYnYClFxSj1iq4oJlGXpHr+Dih0CIQCSu0oC
HefUPn23lMUfLTi/48YuvvW8wK1XlnEvkdKahQ==
-----END CERTIFICATE-----`;

test.each([
  ["a client's", loopbackTls.cert!],
  ["an authority's", `some text before\n${loopbackTls.ca}`],
  ["one that outlives 2049", LONG],
])("validityOf reads %s dates as node:crypto does", (_, pem) => {
  const certificate = new X509Certificate(pem);
  expect(validityOf(pem)).toEqual({
    from: Date.parse(certificate.validFrom),
    until: Date.parse(certificate.validTo),
  });
});

test("validityOf refuses what is no certificate", () => {
  const der = Buffer.from(loopbackTls.cert!.replaceAll(/-----.*-----|\s/g, ""), "base64");
  const pem = (bytes: Uint8Array) =>
    `-----BEGIN CERTIFICATE-----\n${Buffer.from(bytes).toString("base64")}\n-----END CERTIFICATE-----`;
  expect(() => validityOf("nonsense")).toThrow("no certificate");
  for (let length = 1; length < der.length; length++) expect(() => validityOf(pem(der.subarray(0, length)))).toThrow();
  for (const bytes of ["3003020101", "30800000", "3084ffffffff", "0500"]) {
    expect(() => validityOf(pem(Buffer.from(bytes, "hex")))).toThrow();
  }
});
