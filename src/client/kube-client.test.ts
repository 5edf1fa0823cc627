import { expect, test } from "bun:test";
import { InformerRegistry } from "../cache/informer-registry.ts";
import { RestMapper } from "../kube/api/mapper.ts";
import { createTransport } from "../kube/transport/transport.ts";
import { Pod } from "../resource/builtin/index.ts";
import { handle } from "../resource/handle.ts";
import { listOf, ScriptedServer } from "../../tests/support/scripted-server.ts";
import { until } from "../../tests/support/until.ts";
import { clientCore, KubeClient } from "./kube-client.ts";
import { Permissions } from "./permissions.ts";
import { openGate } from "../kube/transport/write-gate.ts";

async function setUp(cleanup: AsyncDisposableStack) {
  const server = cleanup.use(await ScriptedServer.start());
  const transport = createTransport(server.config);
  cleanup.defer(() => transport.close());
  const mapper = new RestMapper(transport);
  const log = { debug() {}, info() {}, warn() {}, error() {} };
  const informers = new InformerRegistry({ transport, mapper, log });
  cleanup.defer(() => informers.stop());
  const core = clientCore({
    transport,
    mapper,
    informers,
    manager: "test",
    declared: new Map(),
    permissions: new Permissions(),
    onUndeclared: undefined,
  });
  const client = new KubeClient(core, { gate: openGate, requestSignal: undefined, origin: "test:key" });
  return { server, client, informers };
}

test("list takes labels as text and as an object", async () => {
  await using cleanup = new AsyncDisposableStack();
  const { server, client } = await setUp(cleanup);
  await client.list(Pod, { namespace: "default", labels: "app=web" });
  await client.list(Pod, { namespace: "default", labels: { app: "web", tier: ["b", "a"] } });
  await client.live.list(Pod, { namespace: "default", labels: { matchLabels: { app: "web" } } });
  expect(server.lists.map(({ path }) => path)).toEqual(Array(3).fill("/api/v1/namespaces/default/pods"));
  expect(server.lists.map(({ query }) => query.get("labelSelector"))).toEqual([
    "app=web",
    "app=web,tier in (a,b)",
    "app=web",
  ]);
});

test("an answer that is no object fails its write alone: the events of the key go on", async () => {
  await using cleanup = new AsyncDisposableStack();
  const { server, client, informers } = await setUp(cleanup);
  const { informer } = informers.acquire(Pod, { needs: { bodies: "all", managers: [] }, user: "test" });
  const pod = (resourceVersion: string) => ({
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "a", namespace: "ns", uid: "u", resourceVersion },
  });
  server.onList = ({ path }) => ({ body: path.endsWith("/a") ? null : listOf([pod("1")], "1") });
  await until(() => server.watches.length === 1);
  const patched = client.patch(Pod, { name: "a", namespace: "ns" }, { type: "merge", body: {} });
  expect(await patched.catch((error: unknown) => error)).toBeInstanceOf(TypeError);
  server.watch.send(["MODIFIED", pod("2")]);
  await until(() => informer.store.get("ns/a")?.metadata.resourceVersion === "2");
  expect(await client.update(Pod, undefined as never).catch((error: unknown) => error)).toBeInstanceOf(TypeError);
});

test("a namespaced client says that a kind is not installed, and refuses all namespaces before it asks", async () => {
  await using cleanup = new AsyncDisposableStack();
  const { server, client } = await setUp(cleanup);
  const Missing = handle({ apiVersion: "missing.example.com/v1", kind: "Missing", scope: "Namespaced" });
  server.onList = () => ({ code: 404, body: { kind: "Status", code: 404, reason: "NotFound", message: "none" } });
  const ours = client.with({ namespace: "shop" });
  expect(await ours.deleteAll(Missing, { allNamespaces: true }).catch(String)).toContain("of all namespaces");
  expect(server.lists).toEqual([]);
  expect(await ours.delete(Missing, { name: "a" }).catch(String)).toContain("NotFound");
  expect(server.lists.map(({ path }) => path)).toEqual(["/apis/missing.example.com/v1"]);
});
