import { expect, test } from "bun:test";
import { z } from "zod";
import { until } from "../../tests/support/until.ts";
import { createApiServer } from "binnacle-apiserver";
import { source } from "../controller/source.ts";
import { watch } from "../controller/watch.ts";
import type { ClusterConfig } from "../kube/config/cluster-config.ts";
import { defineController, definePlugin } from "../module/define.ts";
import type { LoadedModule } from "../module/loaded-module.ts";
import { definitionsOf } from "../module/module-definitions.ts";
import { createLog } from "../observe/log.ts";
import { ConfigMap } from "../resource/builtin/core.ts";
import { defineResource } from "../resource/define.ts";
import { Manager } from "./manager.ts";
import type { ManagerOptions } from "./manager-options.ts";

const Box = defineResource({
  group: "demo.dev",
  version: "v1",
  kind: "Box",
  spec: z.object({ size: z.int().default(1) }),
});
const BOXES = "/apis/demo.dev/v1/namespaces/default/boxes";

/** A manager on an API server of its own. */
async function setUp(settings: ManagerOptions["settings"] = {}) {
  const server = await createApiServer();
  const request = async (method: string, path: string, body?: object, type = "application/json") => {
    const init = { method, headers: { "content-type": type }, ...(body && { body: JSON.stringify(body) }) };
    const response = await server.fetch(new Request(`https://server${path}`, init));
    return { status: response.status, body: (await response.json()) as { metadata?: Record<string, unknown> } };
  };
  const cluster: ClusterConfig = {
    server: "https://server",
    context: "x",
    user: "x",
    namespace: "default",
    tls: { ca: undefined, cert: undefined, key: undefined, serverName: undefined, rejectUnauthorized: true },
    answer: (asked) => server.fetch(asked),
    headers: () => ({}),
    reload: () => Promise.resolve(false),
  };
  const lines: { readonly msg: string; readonly [field: string]: unknown }[] = [];
  const manager = new Manager({
    cluster,
    log: createLog({ level: "info", format: "json", write: (line) => void lines.push(JSON.parse(line)) }),
    settings: { "grace-period": 5_000, "install-crds": true, ...settings },
    isolate: false,
  });
  await manager.start();
  const disposed: string[] = [];
  const module = (name: string, ...definitions: unknown[]): LoadedModule => ({
    name,
    file: name,
    definitions: definitionsOf({ all: definitions }),
    invoke: (fn) => fn(),
    dispose: () => void disposed.push(name),
  });
  const make = (name: string) =>
    request("POST", BOXES, { apiVersion: "demo.dev/v1", kind: "Box", metadata: { name }, spec: {} });
  const remove = (name: string) => request("DELETE", `${BOXES}/${name}`);
  const finalizers = async (name: string) => (await request("GET", `${BOXES}/${name}`)).body.metadata?.["finalizers"];
  const kept = (name: string, finalizer = "demo.dev/box") =>
    until(async () => JSON.stringify(await finalizers(name)) === JSON.stringify([finalizer]));
  const gone = (name: string) => until(async () => (await request("GET", `${BOXES}/${name}`)).status === 404);
  const state = (name: string) => manager.modules.statuses().find((one) => one.name === name)?.state;
  return {
    manager,
    module,
    make,
    remove,
    finalizers,
    kept,
    gone,
    state,
    request,
    lines,
    disposed,
    async [Symbol.asyncDispose]() {
      await manager.stop();
      await server.stop();
    },
  };
}

/** A controller that writes down what it does. */
function boxes(done: string[], more: object = {}) {
  return defineController({
    for: Box,
    async reconcile({ metadata }) {
      done.push(`reconcile ${metadata.name}`);
    },
    async finalize({ metadata }) {
      done.push(`finalize ${metadata.name}`);
    },
    ...more,
  });
}

test("a module that owns finalizers drains when it is removed: it finalizes what is deleted, and ends when nothing is left", async () => {
  await using world = await setUp();
  const { manager, module, make, remove, kept, gone, state, disposed, lines } = world;
  const done: string[] = [];
  await manager.add(module("box.ts", Box, boxes(done)));
  await make("a");
  await make("b");
  await kept("a");
  await kept("b");
  await manager.remove("box.ts");
  expect(state("box.ts")).toBe("draining");
  expect(manager.modules.statuses()[0]).toMatchObject({
    message: "objects that carry its finalizers: 2, being deleted: 0, such as Box default/a",
    left: 2,
  });
  expect((await manager.metrics.text()).body).toContain('binnacle_module_draining_objects{module="box.ts"} 2');
  expect((await manager.metrics.text()).body).toMatch(/binnacle_module_state\{.*state="draining".*\} 1/);
  expect(lines.find(({ msg }) => msg.startsWith("The module is draining"))).toMatchObject({ module: "box.ts" });
  done.length = 0;
  await make("new");
  await remove("a");
  await gone("a");
  expect([state("box.ts"), done, disposed]).toEqual(["draining", ["finalize a"], []]);
  await remove("b");
  await gone("b");
  await until(() => state("box.ts") === undefined);
  expect(done).toEqual(["finalize a", "finalize b"]);
  expect(disposed).toEqual(["box.ts"]);
  expect(await world.finalizers("new")).toBeUndefined();
});

test("a module without finalizers, or without objects that carry them, ends at once", async () => {
  await using world = await setUp();
  const { manager, module, make, state, disposed } = world;
  await manager.add(module("none.ts", Box, boxes([], { name: "none", finalize: undefined })));
  await manager.add(module("maps.ts", defineController({ for: ConfigMap, async reconcile() {}, async finalize() {} })));
  await make("a");
  await until(() => manager.modules.controllers.every(({ hasSynced }) => hasSynced));
  await manager.remove("none.ts");
  await manager.remove("maps.ts");
  expect([disposed, state("none.ts"), state("maps.ts")]).toEqual([["none.ts", "maps.ts"], undefined, undefined]);
});

test("a module of which the removal is forced ends at once, and its finalizers are told", async () => {
  await using world = await setUp({ "force-removal": true });
  const { manager, module, make, kept, disposed, lines } = world;
  await manager.add(module("box.ts", Box, boxes([])));
  await make("a");
  await kept("a");
  await manager.remove("box.ts");
  expect(disposed).toEqual(["box.ts"]);
  await until(() => lines.some(({ msg }) => msg.startsWith("A finalizer belongs to no controller")));
});

test("the module of a file that was renamed takes over what the one of its old name drains", async () => {
  await using world = await setUp();
  const { manager, module, make, remove, kept, gone, state, disposed } = world;
  const done: string[] = [];
  const other = boxes([], { name: "other" });
  await manager.add(module("old.ts", Box, boxes([]), other));
  await make("a");
  await until(async () => ((await world.finalizers("a")) as unknown[] | undefined)?.length === 2);
  await manager.remove("old.ts");
  await manager.add(module("new.ts", Box, boxes(done)));
  expect([state("old.ts"), disposed]).toEqual(["draining", []]);
  // Of another kind, or by another name, it is no successor, and the name is taken.
  await expect(
    manager.add(module("third.ts", defineController({ name: "other", for: ConfigMap, async reconcile() {} }))),
  ).rejects.toThrow("Two controllers are called 'other'");
  await remove("a");
  await gone("a");
  await until(() => state("old.ts") === undefined);
  expect(done).toContain("finalize a");
  await make("b");
  await kept("b");
  await manager.remove("new.ts");
  expect(state("new.ts")).toBe("draining");
  await manager.add(module("again.ts", Box, boxes([], { name: "renamed", formerly: ["box"] })));
  expect(state("new.ts")).toBeUndefined();
  await kept("b", "demo.dev/renamed");
});

test("a module takes over what another one drains, also when the permissions of that one cannot be revoked", async () => {
  await using world = await setUp();
  const { manager, module, make, kept, state, lines } = world;
  await manager.add(module("old.ts", Box, boxes([])));
  await make("a");
  await kept("a");
  await manager.modules.remove("old.ts", () => Promise.reject(new Error("refused")));
  const done: string[] = [];
  await manager.add(module("new.ts", Box, boxes(done)));
  await until(() => done.includes("reconcile a"));
  expect([state("old.ts"), state("new.ts")]).toEqual([undefined, "running"]);
  expect(lines.find(({ msg }) => msg === "Cannot clean up after a module that has drained")).toMatchObject({
    module: "old.ts",
  });
});

test("a module that comes back while it drains is replaced, and reconciles again", async () => {
  await using world = await setUp();
  const { manager, module, make, kept, state, disposed } = world;
  const done: string[] = [];
  await manager.add(module("box.ts", Box, boxes([])));
  await make("a");
  await kept("a");
  await manager.remove("box.ts");
  expect(manager.modules.has("box.ts")).toBe(true);
  await manager.replace(module("box.ts", Box, boxes(done)));
  await until(() => done.includes("reconcile a"));
  expect([state("box.ts"), disposed]).toEqual(["running", ["box.ts"]]);
});

test("what a draining module finalizes may fail, wait and hear of other objects; runs that reconcile are ended", async () => {
  await using world = await setUp();
  const { manager, module, make, remove, kept, gone, state, request } = world;
  const maps = "/api/v1/namespaces/default/configmaps";
  let attempts = 0;
  const slow = Promise.withResolvers<void>();
  const controller = boxes([], {
    watches: [
      watch(ConfigMap, {
        labels: "box",
        enqueue: (map) => [{ namespace: "default", name: map.metadata.labels!["box"]! }],
      }),
    ],
    async reconcile({ metadata }: { metadata: { name: string } }, { signal }: { signal: AbortSignal }) {
      if (metadata.name !== "slow") return;
      slow.resolve();
      await new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
    },
    async finalize(_: unknown, { client }: { client: { find(kind: object, key: object): Promise<unknown> } }) {
      if (++attempts === 1) throw new Error("not yet");
      const map = await client.find(ConfigMap, { namespace: "default", name: "done" });
      return map === undefined ? { requeueAfter: "1h" } : undefined;
    },
  });
  await manager.add(module("box.ts", Box, controller));
  await make("a");
  await kept("a");
  await make("slow");
  await slow.promise;
  await remove("a");
  await until(() => attempts > 0);
  await manager.remove("box.ts");
  await until(() => attempts >= 2);
  expect(state("box.ts")).toBe("draining");
  await request("POST", maps, {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: "done", labels: { box: "a" } },
  });
  await gone("a");
  await remove("slow");
  await gone("slow");
  await until(() => state("box.ts") === undefined);
});

test("objects that left the selector while nobody watched are waited for, too", async () => {
  await using world = await setUp();
  const { manager, module, request, gone, state } = world;
  await manager.add(module("kinds.ts", Box));
  const metadata = { name: "old", finalizers: ["demo.dev/box"] };
  await request("POST", BOXES, { apiVersion: "demo.dev/v1", kind: "Box", metadata, spec: {} });
  let mayEnd = false;
  const controller = boxes([], {
    for: watch(Box, { labels: "wanted" }),
    async finalize() {
      if (!mayEnd) throw new Error("not yet");
    },
  });
  await manager.add(module("box.ts", Box, controller));
  await until(() => manager.modules.controllers.every(({ hasSynced }) => hasSynced));
  await manager.remove("box.ts");
  expect(state("box.ts")).toBe("draining");
  mayEnd = true;
  await until(() => state("box.ts") === undefined);
  expect(await world.finalizers("old")).toBeUndefined();
  await world.remove("old");
  await gone("old");
});

test("a draining module's routes and checks are gone, its runnables go on, and the process ends while it drains", async () => {
  const world = await setUp();
  const { manager, module, make, kept, state } = world;
  let running = 0;
  const plugin = definePlugin({
    name: "shop",
    setup(registry) {
      registry.readyCheck("open", () => {
        throw new Error("closed");
      });
      registry.run(async ({ signal }) => {
        running++;
        await new Promise((resolve) => signal.addEventListener("abort", resolve));
        running--;
      });
    },
  });
  await manager.add(module("box.ts", Box, boxes([], { watches: [source.every("1h")] }), plugin));
  await make("a");
  await kept("a");
  await until(() => running === 1);
  await manager.remove("box.ts");
  expect([state("box.ts"), running]).toEqual(["draining", 1]);
  await manager.add(module("other.ts", plugin));
  await until(() => running === 2);
  await world[Symbol.asyncDispose]();
  expect([running, world.disposed.toSorted()]).toEqual([0, ["box.ts", "other.ts"]]);
});
