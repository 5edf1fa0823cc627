import { expect, test } from "bun:test";
import { InformerRegistry } from "../cache/registry.ts";
import { RestMapper } from "../kube/mapper.ts";
import { createTransport } from "../kube/transport.ts";
import { Pod } from "../resource/builtin/index.ts";
import { ScriptedServer } from "../testing/scripted-server.ts";
import { clientParts, KubeClient } from "./kube-client.ts";
import { Permissions } from "./permissions.ts";
import { openGate } from "./write-gate.ts";

test("list takes labels as text and as an object", async () => {
  await using server = await ScriptedServer.start();
  await using cleanup = new AsyncDisposableStack();
  const transport = createTransport(server.config);
  cleanup.defer(() => transport.close());
  const mapper = new RestMapper(transport);
  const log = { debug() {}, info() {}, warn() {}, error() {} };
  const informers = new InformerRegistry({ transport, mapper, log });
  cleanup.defer(() => informers.stop());
  const parts = clientParts({
    transport,
    mapper,
    informers,
    manager: "test",
    declared: new Map(),
    permissions: new Permissions(),
    onUndeclared: undefined,
  });
  const client = new KubeClient(parts, { gate: openGate, requestSignal: undefined, origin: "test:key" });
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
