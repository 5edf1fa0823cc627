import { expect, test } from "bun:test";
import { X509Certificate } from "node:crypto";
import { createAuthority, issue } from "./certificate.ts";

const authority = createAuthority("kubernetes");
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

test("issue keeps the end of the validity, also in the past and after 2049", () => {
  for (const date of ["2020-01-02T03:04:05.000Z", "2051-01-02T03:04:05.000Z"]) {
    const { cert } = issue(authority, { subject: { name: "x" }, until: Date.parse(date) });
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

test("createAuthority keeps its lifetime", () => {
  const from = "2026-01-02T03:04:05.000Z";
  const until = "2027-01-02T03:04:05.000Z";
  const { cert } = createAuthority("webhooks", { from: Date.parse(from), until: Date.parse(until) });
  const { validFrom, validTo } = new X509Certificate(cert);
  expect([validFrom, validTo].map((text) => new Date(text).toISOString())).toEqual([from, until]);
});

test("issue names hosts and addresses of both families", () => {
  const hosts = ["hook.system.svc", "hook.system.svc.cluster.local", "127.0.0.1", "fd00::1:2", "::1"];
  const certificate = new X509Certificate(issue(authority, { subject: { name: "hook" }, hosts }).cert);
  for (const host of hosts.slice(0, 2)) expect(certificate.checkHost(host)).toBe(host);
  for (const host of hosts.slice(2)) expect(certificate.checkIP(host)).toBe(host);
  expect(certificate.checkHost("other.system.svc")).toBeUndefined();
});

test("a TLS client that trusts the authority accepts the server, also beside another authority of the same age", async () => {
  const old = createAuthority("one");
  const next = createAuthority("two");
  const tls = issue(next, { subject: { name: "server" }, hosts: ["127.0.0.1"] });
  await using server = Bun.serve({ port: 0, hostname: "127.0.0.1", tls, fetch: () => new Response("hello") });
  const trusted = await fetch(server.url, { tls: { ca: `${old.cert}${next.cert}` } });
  expect(await trusted.text()).toBe("hello");
  expect(fetch(server.url, { tls: { ca: old.cert } })).rejects.toThrow();
});
