import { expect, test } from "bun:test";
import { X509Certificate } from "node:crypto";
import { belongTogether } from "../../kube/config/key-pair.ts";
import { createAuthority, issueServerCertificate } from "./issue.ts";

const from = Date.parse("2026-01-02T03:04:05Z");
const lifetime = { from, until: Date.parse("2027-01-02T03:04:05Z") };

test("createAuthority signs itself, may sign others and nothing else, and has a name of its own", async () => {
  const [one, other] = await Promise.all([createAuthority(lifetime), createAuthority(lifetime)]);
  const certificate = new X509Certificate(one.cert);
  expect(certificate.ca).toBe(true);
  expect(certificate.verify(certificate.publicKey)).toBe(true);
  expect(certificate.subject).toStartWith("CN=binnacle webhook authority ");
  expect(certificate.subject).not.toBe(new X509Certificate(other.cert).subject);
  expect(certificate.publicKey.asymmetricKeyDetails?.namedCurve).toBe("prime256v1");
  expect(new Date(certificate.validFrom).toISOString()).toBe("2026-01-02T03:04:05.000Z");
  expect(new Date(certificate.validTo).toISOString()).toBe("2027-01-02T03:04:05.000Z");
  expect(belongTogether(one.cert, one.key)).toBe(true);
  expect(belongTogether(one.cert, other.key)).toBe(false);
});

test("issueServerCertificate names every host and is signed by the authority", async () => {
  const authority = await createAuthority(lifetime);
  const hosts = ["hook.system.svc", "hook.system.svc.cluster.local", "127.0.0.1", "fd00::1:2", "::1"];
  const { cert, key } = await issueServerCertificate(authority, { ...lifetime, hosts });
  const certificate = new X509Certificate(cert);
  const root = new X509Certificate(authority.cert);
  expect(certificate.checkIssued(root)).toBe(true);
  expect(certificate.verify(root.publicKey)).toBe(true);
  expect(certificate.ca).toBe(false);
  expect(certificate.keyUsage).toEqual(["1.3.6.1.5.5.7.3.1"]);
  for (const host of hosts.slice(0, 2)) expect(certificate.checkHost(host)).toBe(host);
  for (const host of hosts.slice(2)) expect(certificate.checkIP(host)).toBe(host);
  expect(certificate.checkHost("other.system.svc")).toBeUndefined();
  expect(belongTogether(cert, key)).toBe(true);
});

test("a TLS client that trusts the authority accepts the server, also beside another authority", async () => {
  const [old, authority] = await Promise.all([createAuthority(now()), createAuthority(now())]);
  const pair = await issueServerCertificate(authority, { ...now(), hosts: ["127.0.0.1"] });
  await using server = Bun.serve({ port: 0, hostname: "127.0.0.1", tls: pair, fetch: () => new Response("hello") });
  const trusted = await fetch(server.url, { tls: { ca: `${old.cert}${authority.cert}` } });
  expect(await trusted.text()).toBe("hello");
  expect(fetch(server.url, { tls: { ca: old.cert } })).rejects.toThrow();
});

function now() {
  return { from: Date.now() - 60_000, until: Date.now() + 3_600_000 };
}
