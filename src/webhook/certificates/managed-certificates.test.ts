import { expect, test } from "bun:test";
import { X509Certificate } from "node:crypto";
import { createApiServer } from "binnacle-apiserver";
import type { ClusterConfig } from "../../kube/config/cluster-config.ts";
import { createTransport } from "../../kube/transport/transport.ts";
import { createLog } from "../../observe/log.ts";
import { systemClock } from "../../platform/clock.ts";
import { eventually } from "../../testing/eventually.ts";
import { FakeClock } from "../../testing/fake-clock.ts";
import type { TrustedCertificate } from "./trusted-source.ts";
import { MemoryStore } from "./certificate-store.ts";
import { ManagedCertificates } from "./managed-certificates.ts";
import { SecretStore } from "./secret-store.ts";
import { type Certificate, createAuthority, issue } from "binnacle-apiserver/certificates";
import { AUTHORITY_LIFETIME, BACKDATED, certificatesOf, SERVER_LIFETIME } from "./stored-certificates.ts";

const hosts = ["hook.shop.svc", "127.0.0.1"];
const START = Date.now();
const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;

function logInto(lines: string[]) {
  return createLog({ level: "info", format: "json", write: (line) => void lines.push(line) });
}

function isTrusted({ cert, authorities = "" }: TrustedCertificate): boolean {
  const certificate = new X509Certificate(cert);
  return certificatesOf(authorities).some((one) => certificate.verify(new X509Certificate(one).publicKey));
}

test("ManagedCertificates makes a certificate that names every host", async () => {
  const { certificates, told } = await alone(undefined);
  await eventually(() => expect(certificates.current()).toBeDefined());
  const first = certificates.current()!;
  for (const name of ["hook.shop.svc"]) expect(new X509Certificate(first.cert).checkHost(name)).toBe(name);
  expect(told).toEqual([first]);
  expect(isTrusted(first)).toBe(true);
  await certificates[Symbol.asyncDispose]();
});

test("ManagedCertificates ends at once, also while its first certificate is being made", async () => {
  const { certificates } = await alone(undefined);
  await certificates[Symbol.asyncDispose]();
});

test("a host that no certificate can name is told, and does not keep the end waiting", async () => {
  const { certificates } = await alone(undefined, undefined, ["bücher.example"]);
  await eventually(() => expect(certificates.failure).toBe('A certificate cannot name "bücher.example"'));
  expect(certificates.current()).toBeUndefined();
  await certificates[Symbol.asyncDispose]();
});

test("a certificate of which a third is left is replaced, and its authority stays", async () => {
  const authority = createAuthority("webhooks", { from: START - BACKDATED, until: START + AUTHORITY_LIFETIME });
  const { certificates, clock, told } = await alone({ authority, until: START + 30 * DAY + MINUTE });
  await eventually(() => expect(certificates.current()).toBeDefined());
  const first = certificates.current()!;
  await passes(clock, 2 * MINUTE);
  await eventually(() => expect(certificates.current()!.cert).not.toBe(first.cert));
  expect(certificates.current()!.authorities).toBe(first.authorities);
  expect(told.every(isTrusted)).toBe(true);
  await certificates[Symbol.asyncDispose]();
});

test("an authority of which a third is left is replaced in three steps, and every certificate is trusted", async () => {
  const made = START - (AUTHORITY_LIFETIME * 2) / 3;
  const authority = createAuthority("webhooks", { from: made, until: made + AUTHORITY_LIFETIME + MINUTE });
  let inForce = false;
  const isInForce = () => Promise.resolve(inForce);
  const { certificates, clock, told } = await alone({ authority, until: START + SERVER_LIFETIME }, isInForce);
  await eventually(() => expect(certificates.current()).toBeDefined());
  const before = certificates.current()!;
  expect(certificatesOf(before.authorities!)).toEqual([authority.cert]);

  await passes(clock, 2 * MINUTE);
  await eventually(() => expect(certificatesOf(certificates.current()!.authorities!)).toHaveLength(2));
  expect(certificates.current()!.authorities!).toEndWith(before.authorities!);
  await passes(clock, MINUTE);
  expect(certificates.current()!.cert).toBe(before.cert);

  inForce = true;
  await passes(clock, MINUTE);
  await eventually(() => expect(certificates.current()!.cert).not.toBe(before.cert));
  expect(certificatesOf(certificates.current()!.authorities!)).toHaveLength(2);

  await passes(clock, 61 * MINUTE);
  await eventually(() => expect(certificatesOf(certificates.current()!.authorities!)).toHaveLength(1));
  expect(certificates.current()!.authorities!).not.toBe(before.authorities!);
  expect(told.every(isTrusted)).toBe(true);
  expect(certificates.failure).toBeUndefined();
  await certificates[Symbol.asyncDispose]();
});

test("of several replicas one makes the Secret, and all use it", async () => {
  const api = await secrets();
  const lines: string[] = [];
  const replicas = Array.from({ length: 4 }, () => api.replica(logInto(lines)));
  await eventually(() => expect(replicas.every((one) => one.current() !== undefined)).toBe(true));
  expect(new Set(replicas.map((one) => one.current()!.cert)).size).toBe(1);
  expect(lines.filter((line) => line.includes("Webhook authority made"))).toHaveLength(1);
  const secret = await api.read();
  expect(secret?.type).toBe("kubernetes.io/tls");
  expect(Object.keys(secret?.data ?? {}).sort()).toEqual(["ca.crt", "ca.key", "tls.crt", "tls.key"]);
  for (const one of replicas) await one[Symbol.asyncDispose]();
});

test("a Secret that is deleted is made anew, and what serves goes on until its successor is trusted", async () => {
  const api = await secrets();
  const replicas = [api.replica(), api.replica()];
  await eventually(() => expect(replicas.every((one) => one.current() !== undefined)).toBe(true));
  const before = replicas[0]!.current()!;
  await api.transport.request({ method: "DELETE", path: api.path });
  await eventually(() => {
    for (const one of replicas) {
      const now = one.current()!;
      expect(certificatesOf(now.authorities!)).toHaveLength(2);
      expect(now.authorities!).toEndWith(before.authorities!);
      expect(now.cert).toBe(before.cert);
    }
  });
  expect(replicas[0]!.current()).toEqual(replicas[1]!.current());
  for (const one of replicas) await one[Symbol.asyncDispose]();
});

test("a Secret with a certificate that cannot be used is mended, and nobody is handed what is in it", async () => {
  const api = await secrets();
  await using certificates = api.replica();
  await eventually(() => expect(certificates.current()).toBeDefined());
  const before = certificates.current()!;
  const told: TrustedCertificate[] = [];
  using _subscription = certificates.subscribe(() => told.push(certificates.current()!));
  const data = { "tls.crt": "", "tls.key": "" };
  const contentType = "application/merge-patch+json";
  await api.transport.request({ method: "PATCH", path: api.path, contentType, body: { data } });
  await eventually(() => expect(certificates.current()!.cert).not.toBe(before.cert));
  expect(certificates.current()!.authorities).toBe(before.authorities);
  expect(told).toHaveLength(1);
  expect(told.every(isTrusted)).toBe(true);
});

test("what keeps it from its Secret is told once, and it tries again", async () => {
  const clock = new FakeClock(Date.now());
  const lines: string[] = [];
  const refused = new Error("Forbidden");
  let refusing = true;
  const memory = new MemoryStore();
  const store = {
    name: memory.name,
    read: () => (refusing ? Promise.reject(refused) : memory.read()),
    write: memory.write.bind(memory),
    watch: memory.watch.bind(memory),
  };
  await using certificates = new ManagedCertificates({ store, hosts, clock, log: logInto(lines) });
  await eventually(() => expect(certificates.failure).toBe("Forbidden"));
  await passes(clock, 60_000);
  expect(certificates.current()).toBeUndefined();
  expect(lines).toHaveLength(1);
  refusing = false;
  await passes(clock, 60_000);
  await eventually(() => expect(certificates.current()).toBeDefined());
  expect(certificates.failure).toBeUndefined();
});

/** Makes a replica that shares its certificate with nobody, with one that is stored already. */
async function alone(
  stored: { authority: Certificate; until: number } | undefined,
  inForce?: () => Promise<boolean>,
  named: readonly string[] = hosts,
) {
  const clock = new FakeClock(START);
  const store = new MemoryStore();
  if (stored !== undefined) {
    const { authority, until } = stored;
    const from = until - SERVER_LIFETIME - BACKDATED;
    const server = issue(authority, { from, until, subject: { name: "hook" }, hosts: named });
    await store.write({ authorities: [authority.cert], authorityKey: authority.key, ...server }, undefined);
  }
  const certificates = new ManagedCertificates({ store, hosts: named, clock, log: logInto([]), inForce });
  const told: TrustedCertificate[] = [];
  certificates.subscribe(() => told.push(certificates.current()!));
  return { certificates, clock, told };
}

/** Lets time pass, with real turns for what is computed elsewhere. */
async function passes(clock: FakeClock, ms: number): Promise<void> {
  for (let part = 0; part < 10; part++) {
    await clock.advanceInTurns(ms / 10);
    await Bun.sleep(2);
  }
}

/** Starts an API server in this process, and replicas that share one of its Secrets. */
async function secrets() {
  const server = await createApiServer();
  const config: ClusterConfig = {
    server: "https://server",
    context: "x",
    user: "x",
    namespace: "default",
    tls: { ca: undefined, cert: undefined, key: undefined, serverName: undefined, rejectUnauthorized: true },
    answer: (request) => server.fetch(request),
    headers: () => ({}),
    reload: () => Promise.resolve(false),
  };
  const transport = createTransport(config);
  const secret = { namespace: "default", name: "hook-tls" };
  const path = "/api/v1/namespaces/default/secrets/hook-tls";
  const quiet = logInto([]);
  return {
    transport,
    path,
    replica: (log = quiet) => {
      const store = new SecretStore({ transport: createTransport(config), secret, clock: systemClock, log });
      return new ManagedCertificates({ store, hosts, clock: systemClock, log });
    },
    read: () => transport.request<{ type: string; data: Record<string, string> } | undefined>({ method: "GET", path }),
  };
}
