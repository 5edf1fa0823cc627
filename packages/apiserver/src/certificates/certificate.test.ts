import { expect, test } from "bun:test";
import { X509Certificate } from "node:crypto";
import { createAuthority, issue } from "./certificate.ts";

const authority = { ...createAuthority("kubernetes"), name: "kubernetes" };
const root = new X509Certificate(authority.cert);

test("createAuthority signs itself and may sign others", () => {
  expect(root.ca).toBe(true);
  expect(root.subject).toBe("CN=kubernetes");
  expect(root.verify(root.publicKey)).toBe(true);
});

test("issue names the hosts of a server and is signed by the authority", () => {
  const server = new X509Certificate(issue(authority, { subject: { name: "s" }, hosts: ["127.0.0.1", "a.test"] }).cert);
  expect(server.subjectAltName).toBe("IP Address:127.0.0.1, DNS:a.test");
  expect(server.verify(root.publicKey)).toBe(true);
  expect(server.checkIssued(root)).toBe(true);
  expect(server.ca).toBe(false);
  expect(server.keyUsage).toEqual(["1.3.6.1.5.5.7.3.1"]);
});

test("issue gives a client its name and groups", () => {
  const client = new X509Certificate(issue(authority, { subject: { name: "jane", groups: ["a", "b"] } }).cert);
  expect(client.subject).toBe("O=a\nO=b\nCN=jane");
  expect(client.keyUsage).toEqual(["1.3.6.1.5.5.7.3.2"]);
});

test("issue keeps notAfter, also in the past and after 2049", () => {
  for (const date of ["2020-01-02T03:04:05.000Z", "2051-01-02T03:04:05.000Z"]) {
    const { cert } = issue(authority, { subject: { name: "x" }, notAfter: new Date(date) });
    const certificate = new X509Certificate(cert);
    expect(new Date(certificate.validTo).toISOString()).toBe(date);
    expect(new Date(certificate.validFrom).getTime()).toBeLessThan(new Date(date).getTime());
  }
});

test("issue does not verify against another authority", () => {
  const { cert } = issue(authority, { subject: { name: "x" } });
  expect(new X509Certificate(cert).verify(new X509Certificate(createAuthority("kubernetes").cert).publicKey)).toBe(
    false,
  );
});
