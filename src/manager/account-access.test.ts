import { expect, test } from "bun:test";
import { type ApiServer, createApiServer } from "binnacle-apiserver";
import type { ClusterConfig } from "../kube/config/cluster-config.ts";
import { createTransport } from "../kube/transport/transport.ts";
import { watch } from "../controller/watch.ts";
import { defineKeyController } from "../module/define.ts";
import type { LoadedModule } from "../module/loaded-module.ts";
import { collectDefinitions } from "../module/module-definitions.ts";
import { systemClock } from "../platform/clock.ts";
import { ConfigMap, Secret } from "../resource/builtin/index.ts";
import type { Target } from "../controller/watch.ts";
import type { Shape } from "../resource/handle.ts";
import { until } from "../../tests/support/until.ts";
import { AccountAccess } from "./account-access.ts";

const account = { namespace: "ops", name: "robot" };
const username = "system:serviceaccount:ops:robot";

function configOf(server: ApiServer, user?: string): ClusterConfig {
  const connection =
    user === undefined ? undefined : { certificate: { username: user, groups: ["system:authenticated"] } };
  return {
    server: "https://server",
    context: "x",
    user: "x",
    namespace: "default",
    tls: { ca: undefined, cert: undefined, key: undefined, serverName: undefined, rejectUnauthorized: true },
    answer: (request) => server.fetch(request, connection),
    headers: () => ({}),
    reload: () => Promise.resolve(false),
  };
}

function module(name: string, ...reads: readonly Target<Shape>[]): LoadedModule {
  const controller = defineKeyController({ name, reads, async reconcile() {} });
  const definitions = collectDefinitions([controller]);
  return { name, file: name, definitions, invoke: (fn) => fn(), dispose: () => {} };
}

async function setUp() {
  const server = await createApiServer();
  const access = new AccountAccess(
    { account, administrator: configOf(server) },
    { namespaces: [], clock: systemClock },
  );
  const transport = createTransport(access.through(configOf(server, username)));
  const may = async (path: string): Promise<boolean> =>
    transport.request({ method: "GET", path }).then(
      () => true,
      () => false,
    );
  return { server, access, may, administrator: createTransport(configOf(server)) };
}

const secrets = "/api/v1/namespaces/default/secrets";
const maps = "/api/v1/namespaces/default/configmaps";
const started = async (): Promise<void> => {};

test("AccountAccess permits what the modules that run declare, and takes it back with them", async () => {
  const { access, may } = await setUp();
  expect([await may(secrets), await may(maps)]).toEqual([false, false]);
  await access.run(module("a", Secret), async () => expect(await may(secrets)).toBe(true));
  await access.run(module("b", ConfigMap), started);
  expect([await may(secrets), await may(maps)]).toEqual([true, true]);
  await access.leave("a");
  expect([await may(secrets), await may(maps)]).toEqual([false, true]);
  await access.leave("b");
  expect(await may(maps)).toBe(false);
});

test("AccountAccess permits both versions while one replaces the other, and the one that runs in the end", async () => {
  const { access, may } = await setUp();
  await access.run(module("a", Secret), started);
  await access.run(module("a", ConfigMap), async () => {
    expect([await may(secrets), await may(maps)]).toEqual([true, true]);
  });
  await until(async () => !(await may(secrets)));
  expect(await may(maps)).toBe(true);
  const failed = access.run(module("a", Secret), () => Promise.reject(new Error("does not start")));
  expect(failed).rejects.toThrow("does not start");
  await failed.catch(() => {});
  expect([await may(secrets), await may(maps)]).toEqual([false, true]);
});

test("AccountAccess permits what is in a namespace as soon as that is there", async () => {
  const { access, may, administrator } = await setUp();
  await access.run(module("a", watch(Secret, { namespaces: ["later"] })), started);
  const path = "/api/v1/namespaces/later/secrets";
  expect(await may(path)).toBe(false);
  await administrator.request({ method: "POST", path: "/api/v1/namespaces", body: { metadata: { name: "later" } } });
  expect([await may(path), await may(secrets)]).toEqual([true, false]);
});
