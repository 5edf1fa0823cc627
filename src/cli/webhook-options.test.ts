import { expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type RunSettings, runSettings } from "../settings/run-options.ts";
import { createAuthority } from "binnacle-apiserver/certificates";
import { reachOf } from "./webhook-address.ts";
import { type WebhookSurroundings, webhooksOf } from "./webhook-options.ts";

const values = runSettings({ "webhook-bind-address": ":9443" });
const run: WebhookSurroundings = {
  isEmbedded: false,
  development: false,
  mayListenElsewhere: false,
  election: undefined,
  findHost: () => Promise.reject(new Error("nobody asks")),
};
const dev: WebhookSurroundings = { ...run, development: true, mayListenElsewhere: true };
const devValues = { ...values, "webhook-bind-address": "127.0.0.1:9443", "register-webhooks": true };

test("webhooksOf: a Service has a certificate in a Secret, which is registered or injected", async () => {
  const given = { ...values, "webhook-service": "shop/hook" };
  expect(
    await webhooksOf(
      { ...given, "register-webhooks": true },
      { ...run, election: { namespace: "leases", id: "shop" } },
    ),
  ).toEqual({
    address: ":9443",
    certificates: {
      kind: "secret",
      secret: { namespace: "shop", name: "hook-webhook-tls" },
      hosts: ["hook.shop.svc", "hook.shop.svc.cluster.local"],
    },
    drain: 2_000,
    registration: {
      reach: { service: { namespace: "shop", name: "hook", port: 443 } },
      mode: "apply",
      failurePolicy: undefined,
      ownNamespaces: ["shop"],
      ownLeases: { namespace: "leases", id: "shop" },
      learning: undefined,
    },
  });
  expect((await webhooksOf(given, run))?.registration?.mode).toBe("inject");
});

test("webhooksOf: without --register-webhooks the definitions that got the address of the process are kept", async () => {
  const mode = async (given: Partial<RunSettings>) =>
    (await webhooksOf({ ...values, ...given }, run))?.registration?.mode;
  expect(await mode({ "webhook-host": "10.0.0.1", "install-crds": true })).toBe("definitions");
  expect(await mode({ "webhook-host": "10.0.0.1" })).toBe("none");
  expect(await mode({ "webhook-service": "shop/hook", "install-crds": true })).toBe("inject");
});

test("webhooksOf: replicas outside the cluster share a registration, and dev has its own", async () => {
  const given = { ...values, "webhook-host": "10.0.0.1", "register-webhooks": true };
  const election = { namespace: "default", id: "shop" };
  const found = await webhooksOf(given, { ...run, election });
  expect(found?.registration).toMatchObject({
    reach: { host: "10.0.0.1", shared: "binnacle-host.shop.default" },
    ownNamespaces: [],
    ownLeases: election,
  });
  expect((await webhooksOf(given, run))?.registration?.reach).not.toHaveProperty("shared");
  expect((await webhooksOf(given, { ...dev, election }))?.registration?.reach).not.toHaveProperty("shared");
});

test("webhooksOf: files are followed, and their authorities are somebody else's business", async () => {
  const folder = mkdtempSync(join(tmpdir(), "webhook-options-"));
  const given = { ...values, "webhook-service": "shop/hook", "webhook-cert-path": folder };
  expect(await webhooksOf(given, run).catch(String)).toContain(
    `Cannot read ${folder}/tls.crt: there is no such file (--webhook-cert-path)`,
  );
  const { cert, key } = createAuthority("webhooks");
  writeFileSync(join(folder, "tls.crt"), cert);
  writeFileSync(join(folder, "tls.key"), key);
  const found = await webhooksOf(given, run);
  expect(found?.certificates).toEqual({ kind: "files", folder });
  expect(found?.registration?.mode).toBe("none");
  rmSync(folder, { recursive: true });
});

test("webhooksOf: a process that says nothing listens and registers nothing", async () => {
  const found = await webhooksOf(values, run);
  expect(found).toMatchObject({ address: ":9443", certificates: { kind: "memory" }, registration: undefined });
  expect(await webhooksOf({ ...values, "webhook-bind-address": "0" }, run)).toBeUndefined();
});

test("webhooksOf: dev on the embedded cluster registers by URL", async () => {
  const found = await webhooksOf(devValues, { ...dev, isEmbedded: true, mayListenElsewhere: false });
  expect(found).toMatchObject({
    address: "127.0.0.1:9443",
    certificates: { kind: "memory", hosts: ["127.0.0.1"] },
    drain: 0,
    registration: { reach: { host: "127.0.0.1" }, mode: "apply", failurePolicy: undefined, learning: 0 },
  });
});

test("webhooksOf: dev on another cluster listens where that reaches it, and ignores failures", async () => {
  const found = await webhooksOf(devValues, { ...dev, findHost: () => Promise.resolve("172.18.0.1") });
  expect(found).toMatchObject({
    address: "172.18.0.1:9443",
    certificates: { kind: "memory", hosts: ["172.18.0.1"] },
    registration: { reach: { host: "172.18.0.1" }, mode: "apply", failurePolicy: "Ignore" },
  });
  const desktop = await webhooksOf(devValues, { ...dev, findHost: () => Promise.resolve("host.docker.internal") });
  expect(desktop?.address).toBe("127.0.0.1:9443");
  const nowhere = await webhooksOf(devValues, { ...dev, findHost: () => Promise.resolve(undefined) });
  expect(nowhere?.registration).toBeUndefined();
});

test("webhooksOf: a host that is named is asked at all addresses, unless an address is named too", async () => {
  const given = { ...devValues, "webhook-host": "desk.example.com:8443" };
  expect((await webhooksOf(given, dev))?.address).toBe(":8443");
  expect((await webhooksOf(given, { ...dev, mayListenElsewhere: false }))?.address).toBe("127.0.0.1:9443");
  expect((await webhooksOf({ ...devValues, "webhook-host": "127.0.0.1" }, dev))?.address).toBe("127.0.0.1:9443");
});

test("webhooksOf refuses what does not fit, and says what would", async () => {
  const refused = (given: Partial<RunSettings>) => webhooksOf({ ...values, ...given }, run).catch(String);
  expect(await refused({ "register-webhooks": true })).toContain(
    "--register-webhooks is given without a way to the webhooks: add --webhook-service namespace/name",
  );
  expect(await refused({ "register-webhooks": true, "webhook-bind-address": "0" })).toContain("leave one out");
  expect(await refused({ "webhook-host": "a", "webhook-service": "b/c" })).toContain("leave one out");
});

test("reachOf reads hosts and Services", () => {
  const reach = (host: string | undefined, service?: string) =>
    reachOf({ "webhook-host": host, "webhook-service": service });
  expect(reach("10.0.0.1")).toEqual({ host: "10.0.0.1", port: undefined });
  expect(reach("[fd00::1]:8443")).toEqual({ host: "[fd00::1]", port: 8443 });
  expect(reach("bücher.example:8443")).toEqual({ host: "xn--bcher-kva.example", port: 8443 });
  expect(reach("127.1")).toEqual({ host: "127.0.0.1", port: undefined });
  expect(() => reach("a,b")).toThrow("--webhook-host is 'a,b': expected a host, or host:port");
  expect(reach(undefined, "shop/hook:8443")).toEqual({ service: { namespace: "shop", name: "hook", port: 8443 } });
  expect(() => reach("https://a")).toThrow("--webhook-host is 'https://a': expected a host, or host:port");
  expect(() => reach(undefined, "hook")).toThrow("--webhook-service is 'hook': expected namespace/name");
});
