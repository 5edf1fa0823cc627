/** What keeps a rollout from going on with a process that does not do its work. */
import { expect, test } from "bun:test";
import { until } from "../../tests/support/until.ts";
import { createApiServer } from "binnacle-apiserver";
import type { Definition } from "../module/definition.ts";
import { defineController } from "../module/define.ts";
import { defineWebhook } from "../module/define-webhook.ts";
import type { LoadedModule } from "../module/loaded-module.ts";
import { definitionsOf } from "../module/module-definitions.ts";
import { createLog } from "../observe/log.ts";
import { systemClock } from "../platform/clock.ts";
import { ConfigMap, Pod } from "../resource/builtin/core.ts";
import { FakeClock } from "../testing/fake-clock.ts";
import { Manager } from "./manager.ts";

function moduleOf(name: string, definitions: Readonly<Record<string, Definition>>): LoadedModule {
  const collected = definitionsOf(definitions);
  return { name, file: name, definitions: collected, invoke: (fn) => fn(), dispose() {} };
}

const controller = (name: string): LoadedModule =>
  moduleOf(name, { it: defineController({ name: name.slice(0, -3), for: ConfigMap, async reconcile() {} }) });

/** A process on an API server, which can be silenced. */
async function setUp(more: { webhookAddress?: string; development?: boolean } = {}) {
  const cleanup = new AsyncDisposableStack();
  const server = cleanup.use(await createApiServer());
  const clock = new FakeClock(Date.now());
  const world = { isSilent: false };
  const manager = new Manager({
    cluster: {
      server: "https://server",
      context: "x",
      user: "x",
      namespace: "default",
      tls: { ca: undefined, cert: undefined, key: undefined, serverName: undefined, rejectUnauthorized: true },
      answer: (request) => (world.isSilent ? Promise.reject(new Error("gone")) : server.fetch(request)),
      headers: () => ({}),
      reload: () => Promise.resolve(false),
    },
    log: createLog({ level: "error", format: "json", write: () => {} }),
    settings: {
      "health-probe-bind-address": "127.0.0.1:0",
      "metrics-bind-address": "127.0.0.1:0",
      "grace-period": 100,
    },
    webhooks: {
      address: more.webhookAddress ?? "0",
      certificates: { kind: "memory", hosts: ["127.0.0.1"] },
    },
    development: more.development,
    clock,
    connectionClock: more.webhookAddress === undefined ? clock : systemClock,
  });
  cleanup.defer(() => manager.stop());
  await manager.start();
  const ready = async (check = "controllers"): Promise<string> => {
    const response = await fetch(`http://${manager.address("health-probe")}/readyz/${check}`);
    const text = await response.text();
    return response.status === 200 ? "ready" : text.replace("internal server error: ", "").trim();
  };
  return { manager, clock, world, ready, [Symbol.asyncDispose]: () => cleanup.disposeAsync() };
}

test("Manager is not ready while a module that was found at the start has never run", async () => {
  await using process = await setUp();
  const { manager, ready } = process;
  await manager.add(controller("a.ts"));
  manager.modules.markBroken("b.ts", { file: "b.ts", message: "a comma is missing" });
  manager.loaded();
  await until(() => manager.modules.controllers.every(({ hasSynced }) => hasSynced));
  expect(await ready()).toBe("module b.ts has never run: a comma is missing");
  await manager.replace(controller("b.ts"));
  await until(async () => (await ready()) === "ready");
  // What ran keeps its version, and what comes later takes nobody else's webhooks out of service.
  manager.modules.markBroken("b.ts", { file: "b.ts", message: "a bracket is missing" });
  manager.modules.markBroken("c.ts", { file: "c.ts", message: "everything is missing" });
  expect(await ready()).toBe("ready");
});

test("Manager is ready when the broken module has left", async () => {
  await using process = await setUp();
  const { manager, ready } = process;
  await manager.add(controller("a.ts"));
  manager.modules.markBroken("b.ts", { file: "b.ts", message: "a comma is missing" });
  manager.loaded();
  expect(await ready()).toContain("b.ts");
  await manager.remove("b.ts");
  await until(async () => (await ready()) === "ready");
});

test("Manager is ready with a broken module while modules are being written", async () => {
  await using process = await setUp({ development: true });
  const { manager, ready } = process;
  await manager.add(controller("a.ts"));
  manager.modules.markBroken("b.ts", { file: "b.ts", message: "a comma is missing" });
  manager.loaded();
  await until(async () => (await ready()) === "ready");
});

test("Manager is not ready while the port of its webhooks is taken, and tries again", async () => {
  const other = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response() });
  const address = `127.0.0.1:${other.port}`;
  await using process = await setUp({ webhookAddress: address });
  const { manager, clock, ready } = process;
  await manager.add(controller("a.ts"));
  await manager.add(moduleOf("hook.ts", { hook: defineWebhook({ for: Pod, validate() {} }) }));
  manager.loaded();
  expect(await ready()).toContain("module hook.ts has never run: Cannot listen on 127.0.0.1");
  await other.stop(true);
  await until(async () => (clock.advance(1_000), (await ready()) === "ready"));
  expect(manager.address("webhook")).toBe(address);
});

test("Manager is not ready when the API server has been silent for more than 60 s, and is again when it answers", async () => {
  await using process = await setUp();
  const { manager, clock, world, ready } = process;
  await manager.add(controller("a.ts"));
  manager.loaded();
  await until(async () => (await ready()) === "ready");
  world.isSilent = true;
  // The watch ends after some minutes, and is not answered again.
  await until(async () => (await clock.advanceInTurns(1_000), (await ready("api-server")) !== "ready"));
  expect(await ready("api-server")).toMatch(
    /^the API server does not answer since \S+Z \(6[01] s\): Cannot reach https:\/\/server: /,
  );
  world.isSilent = false;
  await until(async () => (await clock.advanceInTurns(1_000), (await ready("api-server")) === "ready"));
  expect(await ready()).toBe("ready");
});
