import { afterEach, describe, expect, test } from "bun:test";
import {
  allow,
  defineController,
  defineIndex,
  defineKeyController,
  definePlugin,
  defineResource,
  RetryError,
  source,
  TerminalError,
  watch,
  z,
} from "binnacle";
import type { AroundHook, Definition, Plugin, PluginSource, Registry, RunOutcome } from "binnacle";
import { ConfigMap, Secret } from "binnacle/resources";
import { until } from "../../tests/support/until.ts";
import { collectDefinitions } from "../module/module-definitions.ts";
import { createLog } from "../observe/log.ts";
import { systemClock } from "../platform/clock.ts";
import { FakeClock, startCluster, type TestCluster } from "../testing/index.ts";
import { seriesValue } from "../testing/series-value.ts";
import { Manager } from "./manager.ts";

let cleanup = new AsyncDisposableStack();
afterEach(async () => {
  await cleanup.disposeAsync();
  cleanup = new AsyncDisposableStack();
});

/** A process on an embedded server, by the time of the test. */
async function start({ retryInstalling = true } = {}) {
  const cluster = cleanup.use(await startCluster({ pods: false }));
  const clock = new FakeClock();
  const lines: { readonly msg: string; readonly [field: string]: unknown }[] = [];
  const manager = new Manager({
    cluster: cluster.config,
    log: createLog({ level: "info", format: "json", write: (line) => void lines.push(JSON.parse(line)) }),
    clock,
    connectionClock: systemClock,
    settings: { "install-crds": true },
    isolate: false,
    development: true,
    retryInstalling,
  });
  cleanup.defer(() => manager.stop());
  const module = (name: string, definitions: readonly unknown[]) => ({
    name,
    file: `controllers/${name}`,
    definitions: collectDefinitions(definitions),
    invoke: <T>(call: () => T) => call(),
    dispose() {},
  });
  const add = (name: string, ...definitions: readonly Definition[]) => manager.add(module(name, definitions));
  const replace = (name: string, ...definitions: readonly Definition[]) => manager.replace(module(name, definitions));
  const synced = () => until(() => manager.modules.controllers.every(({ hasSynced }) => hasSynced));
  const stateOf = (name: string) => {
    const { state, message } = manager.modules.statuses().find((one) => one.name === name)!;
    return message === undefined ? state : `${state}: ${message}`;
  };
  return { cluster, clock, manager, lines, add, replace, synced, stateOf };
}

const at = (name: string) => ({ namespace: "default", name });
const create = ({ client }: TestCluster, name: string, data: Record<string, string> = {}) =>
  client.create(ConfigMap, { metadata: at(name), data });

const plugin = (name: string, setup: (registry: Registry) => void, more: Partial<Plugin> = {}) =>
  definePlugin({ name, setup, ...more });
const hooked = (name: string, hook: AroundHook, more: Partial<Plugin> = {}) =>
  plugin(name, (registry) => registry.around(hook), more);

/** A controller of the ConfigMaps whose names begin with `x`, which says what it does. */
function runner(reconcile: (name: string) => Promise<void> = async () => {}) {
  const runs: string[] = [];
  const definition = defineController({
    name: "runner",
    for: watch(ConfigMap, { match: ({ metadata }) => metadata.name.startsWith("x") }),
    async reconcile({ metadata: { name } }) {
      runs.push(name);
      await reconcile(name);
    },
  });
  return { runs, definition };
}

describe("hooks around runs", () => {
  test("see every run with its outcome, those of required plugins further out", async () => {
    const { cluster, add, manager, synced } = await start();
    const events: string[] = [];
    const outcomes: RunOutcome[] = [];
    const telling =
      (name: string): AroundHook =>
      async ({ module, controller, key, object, attempt, causes }, next) => {
        events.push(
          `${name} before ${module} ${controller} ${key.name} ${object?.kind} ${attempt} ${causes[0]?.source}`,
        );
        const outcome = await next();
        outcomes.push(outcome);
        events.push(`${name} after ${outcome.result}`);
      };
    const failure = new Error("no");
    const { definition, runs } = runner(async (name) => {
      if (name === "x-bad" && runs.filter((one) => one === name).length === 1) throw failure;
      if (name === "x-never") throw new TerminalError("never");
    });
    await add("a.ts", hooked("inner", telling("inner"), { requires: ["outer"] }), hooked("outer", telling("outer")));
    await add("run.ts", definition);
    await synced();
    await create(cluster, "x-good");
    await until(() => events.length === 4);
    expect(events.splice(0)).toEqual([
      "outer before run.ts runner x-good ConfigMap 1 for",
      "inner before run.ts runner x-good ConfigMap 1 for",
      "inner after success",
      "outer after success",
    ]);
    await create(cluster, "x-never");
    await until(() => events.length === 4);
    expect(events.splice(0).slice(2)).toEqual(["inner after terminal", "outer after terminal"]);
    await create(cluster, "x-bad");
    await until(() => events.length === 4);
    expect(outcomes.at(-1)).toEqual({ result: "error", error: failure });
    await manager.remove("a.ts");
    await create(cluster, "x-later");
    await until(() => runs.includes("x-later"));
    expect(events).toHaveLength(4);
  });

  test("are told errors without the sensitive values that the run has read", async () => {
    const { cluster, add, synced } = await start();
    const outcomes: RunOutcome[] = [];
    const password = "hunter2-hunter2";
    await cluster.client.create(Secret, { metadata: at("login"), stringData: { password } });
    const leaking = defineKeyController({
      name: "leaking",
      reads: [Secret],
      watches: [source.named("test/once")],
      async reconcile(_, { client }) {
        await client.get(Secret, at("login"));
        throw new TypeError(`no login with ${password}`);
      },
    });
    let once: PluginSource | undefined;
    const seen = plugin("test", (registry) => {
      once = registry.source("once");
      registry.around(async (_, next) => void outcomes.push(await next()));
    });
    await add("a.ts", seen, leaking);
    await synced();
    once!.enqueue({ name: "one" });
    const [outcome] = await until(() => outcomes.length > 0 && outcomes);
    expect(outcome).toMatchObject({
      result: "error",
      error: { name: "TypeError", message: "no login with [redacted]" },
    });
  });

  test("decide: a run is put off, retried or parked without being begun, and keeps its causes and attempts", async () => {
    const { cluster, clock, add, synced, manager, lines } = await start();
    const seen: string[] = [];
    let isOpen = false;
    const limit = hooked("limit", async ({ key: { name }, attempt, causes }, next) => {
      seen.push(`${name} ${attempt} ${causes.map(({ source }) => source).join()}`);
      if (name === "x-retry") throw new RetryError("later", { after: "10m" });
      if (name === "x-park") throw new TerminalError("not allowed");
      if (!isOpen) return { requeueAfter: "1m" };
      await next();
      return undefined;
    });
    const { definition, runs } = runner();
    await add("a.ts", limit, definition);
    await synced();
    for (const name of ["x-off", "x-retry", "x-park"]) await create(cluster, name);
    await until(() => seen.length === 3);
    const [controller] = manager.modules.controllers;
    await until(() => controller!.queue.processing === 0);
    expect([runs, controller!.queue.delayed, controller!.queue.parked.size]).toEqual([[], 2, 1]);
    isOpen = true;
    await clock.advanceInTurns(60_000);
    await until(() => runs.length === 1);
    expect(seen).toContain("x-off 1 for");
    expect(seen.at(-1)).toBe("x-off 1 for");
    expect(lines.some(({ msg }) => msg.startsWith("Parked by a terminal error"))).toBe(true);
  });

  test("one that fails is told and passed by, or the run counts as failed, as its plugin says", async () => {
    const { cluster, add, synced, stateOf, lines, manager } = await start();
    const broken: AroundHook = async () => {
      throw new Error("no connection");
    };
    const forgets = hooked("forgets", async () => {});
    const late = hooked("late", async (_, next) => {
      await next();
      throw new Error("too late");
    });
    const policy = plugin("policy", (registry) =>
      registry.around(broken, { failurePolicy: "Fail", controllers: ["guarded"] }),
    );
    const { definition, runs } = runner();
    let guarded = 0;
    const other = defineKeyController({
      name: "guarded",
      watches: [watch(ConfigMap, { enqueue: () => [{ name: "one" }] })],
      reconcile: async () => void guarded++,
    });
    await add("hooks.ts", hooked("broken", broken), forgets, late, policy);
    await add("run.ts", definition, other);
    await synced();
    await create(cluster, "x-one");
    await until(() => runs.length === 1 && lines.some(({ msg }) => msg === "Reconcile failed"));
    expect(guarded).toBe(0);
    expect(lines.find(({ msg }) => msg === "Reconcile failed")).toMatchObject({
      controller: "guarded",
      error: { message: "A hook of plugin policy failed: no connection" },
    });
    const told = lines.filter(({ msg, module }) => msg.startsWith("A module failed") && module === "hooks.ts");
    const errors = new Set(
      told.map(({ msg, error }) => `${msg.replace("A module failed: ", "")}: ${(error as Error).message}`),
    );
    expect([...errors].toSorted()).toEqual([
      "a hook of plugin broken: no connection",
      "a hook of plugin forgets: it neither called next() nor returned { requeueAfter }",
      "a hook of plugin late: too late",
      "a hook of plugin policy: no connection",
    ]);
    expect(stateOf("hooks.ts")).toBe("running");
    expect(manager.modules.statuses()[0]!.errors).toBeGreaterThan(3);
  });

  test("a new version of a plugin takes the place of the old one, and one whose setup throws leaves it", async () => {
    const { cluster, add, replace, synced } = await start();
    const events: string[] = [];
    const version = (name: string, setup: (registry: Registry) => void = () => {}) =>
      plugin("told", (registry) => {
        registry.around(async ({ key }, next) => {
          events.push(`${name} ${key.name}`);
          await next();
        });
        setup(registry);
      });
    const { definition, runs } = runner();
    await add("run.ts", definition);
    await add("told.ts", version("first"));
    await synced();
    await replace(
      "told.ts",
      version("second"),
      hooked("more", async (_, next) => void (await next())),
    );
    await create(cluster, "x-one");
    await until(() => runs.length === 1);
    const failing = version("third", () => {
      throw new Error("it cannot be set up");
    });
    await expect(replace("told.ts", failing)).rejects.toThrow("it cannot be set up");
    await create(cluster, "x-two");
    await until(() => runs.length === 2);
    expect(events).toEqual(["second x-one", "second x-two"]);
  });

  test("one that hangs holds runs up no longer than its module is there, and a run that is to end not at all", async () => {
    const { cluster, add, synced, manager } = await start();
    const begun: string[] = [];
    const stuck = hooked("stuck", async ({ key }) => {
      begun.push(key.name);
      return new Promise<void>(() => {});
    });
    const { definition, runs } = runner();
    await add("stuck.ts", stuck);
    await add("run.ts", definition);
    await synced();
    await create(cluster, "x-one");
    await until(() => begun.length === 1);
    await manager.remove("stuck.ts");
    await until(() => runs.length === 1);
    await add("stuck.ts", stuck);
    await create(cluster, "x-two");
    await until(() => begun.length === 2);
    await manager.remove("run.ts"); // within the grace period, which the clock of the test never ends
    expect(runs).toEqual(["x-one"]);
  });
});

describe("transforms", () => {
  test("change what all caches keep of a kind, each in turn, and go with their plugins", async () => {
    const { cluster, add, manager } = await start();
    let client: Registry["client"] | undefined;
    const cached = (name: string) => client!.get(ConfigMap, at(name));
    const reader = plugin("reader", (registry) => void (client = registry.client), {
      reads: [ConfigMap],
      uses: [allow(ConfigMap, "update")],
    });
    await create(cluster, "early", { large: "1".repeat(100), kept: "yes" });
    await add("reader.ts", reader);
    await until(async () => (await cached("early")).data?.["large"] !== undefined);
    const slim = plugin("slim", (registry) =>
      registry.transform(ConfigMap, (draft) => {
        delete draft.data?.["large"];
        draft.metadata.annotations = { "example.com/slim": "yes" };
        (draft.metadata as { name: string }).name = "stolen";
      }),
    );
    const throwing = plugin(
      "throwing",
      (registry) =>
        registry.transform(ConfigMap, (draft) => {
          if (draft.data !== undefined) draft.data["order"] = String(draft.metadata.annotations?.["example.com/slim"]);
          throw new Error("boom");
        }),
      { requires: ["slim"] },
    );
    await add("slim.ts", slim, throwing);
    await until(async () => (await cached("early")).data?.["large"] === undefined);
    await create(cluster, "late", { large: "2", kept: "no" });
    await until(async () =>
      (await client!.list(ConfigMap, { namespace: "default" })).some(({ metadata }) => metadata.name === "late"),
    );
    for (const name of ["early", "late"]) {
      const object = await cached(name);
      expect(object.metadata).toMatchObject({ name, annotations: { "example.com/slim": "yes" } });
      expect(object.data).toEqual({ kept: name === "early" ? "yes" : "no", order: "yes" });
    }
    expect(manager.modules.statuses().find(({ name }) => name === "slim.ts")!.errors).toBe(1);
    // What this process writes is answered whole, and kept as the transforms say.
    const written = await cluster.client.get(ConfigMap, at("late"));
    expect(written.data?.["large"]).toBe("2");
    // What is read to be changed and written back is read whole.
    await client!.edit(ConfigMap, at("late"), (draft) => void (draft.data!["by"] = "edit"));
    await client!.createOrUpdate(ConfigMap, at("late"), (draft) => void (draft.data!["and"] = "update"));
    expect((await cluster.client.get(ConfigMap, at("late"))).data).toEqual({
      large: "2",
      kept: "no",
      by: "edit",
      and: "update",
    });
    await manager.remove("slim.ts");
    await create(cluster, "whole", { large: "3" });
    await until(async () =>
      (await client!.list(ConfigMap, { namespace: "default" })).some(({ metadata }) => metadata.name === "whole"),
    );
    expect((await cached("whole")).data).toEqual({ large: "3" });
  });
});

test("a status keeps what a transform drops of it in the caches", async () => {
  const Box = defineResource({
    group: "plugins.example.com",
    version: "v1",
    kind: "Box",
    spec: z.object({ turn: z.int() }),
    status: z.object({ large: z.string().optional(), turn: z.int().optional() }),
  });
  const { cluster, add, synced } = await start();
  const { client } = cluster;
  const boxes = defineController({
    for: Box,
    async reconcile({ spec }, { status }) {
      status.set({ turn: spec.turn });
    },
  });
  const slim = plugin("slim", (registry) =>
    registry.transform(Box, (draft) => {
      delete draft.status?.large;
    }),
  );
  await add("boxes.ts", Box as never, boxes, slim);
  await synced();
  await client.create(Box, { metadata: at("one"), spec: { turn: 1 } });
  const statusOf = async () => (await client.get(Box, at("one"))).status;
  await until(async () => (await statusOf())?.turn === 1);
  await client.subresource("status").patch(Box, at("one"), { type: "merge", body: { status: { large: "yes" } } });
  await client.patch(Box, at("one"), { type: "merge", body: { spec: { turn: 2 } } });
  await until(async () => (await statusOf())?.turn === 2);
  expect(await statusOf()).toMatchObject({ large: "yes", turn: 2 });
});

describe("sources, indexes and ends", () => {
  test("a source of a plugin queues keys at controllers of any module, also when it comes later", async () => {
    const { add, synced, manager } = await start();
    const runs: string[] = [];
    const orders = defineKeyController({
      name: "orders",
      watches: [source.named("shop/orders")],
      async reconcile({ name }, { causes }) {
        runs.push(`${name} ${causes[0]?.source}`);
      },
    });
    let offered: PluginSource | undefined;
    const shop = plugin("shop", (registry) => void (offered = registry.source("orders")));
    await add("orders.ts", orders);
    await synced();
    await add("shop.ts", shop);
    offered!.enqueue(
      { name: "one" },
      { metadata: { name: "two", uid: "", resourceVersion: "", creationTimestamp: "" } },
    );
    await until(() => runs.length === 2);
    expect(runs).toEqual(["one shop/orders", "two shop/orders"]);
    expect(() => offered!.enqueue("three" as never)).toThrow('Cannot enqueue "three"');
    await manager.remove("shop.ts");
    offered!.enqueue({ name: "late" });
    await manager.remove("orders.ts");
    expect(runs).toHaveLength(2);
    expect(() => source.named("shop")).toThrow("such as 'shop/orders', got \"shop\"");
  });

  test("a plugin reads kinds of `reads` from caches, by indexes that are kept from the start", async () => {
    const { cluster, add } = await start();
    let calls = 0;
    const bySize = defineIndex(ConfigMap, "size", ({ data }) => {
      calls++;
      return data?.["size"];
    });
    const bySecret = defineIndex(Secret, "type", ({ type }) => type);
    let found: readonly ConfigMap[] = [];
    const problems: string[] = [];
    await create(cluster, "a", { size: "1" });
    await create(cluster, "b", { size: "2" });
    const reads = plugin(
      "sizes",
      (registry) => {
        const { client } = registry;
        registry.index(bySize);
        for (const wrong of [bySecret, {} as never]) {
          try {
            registry.index(wrong);
          } catch (error) {
            problems.push((error as Error).message);
          }
        }
        registry.run(async () => {
          const before = calls; // the caches have synced, and know the index
          found = await client.list(ConfigMap, { index: bySize.is("2") });
          expect(before).toBeGreaterThan(1);
        });
      },
      { reads: [ConfigMap] },
    );
    await add("sizes.ts", reads);
    await until(() => found.length > 0);
    expect(found.map(({ metadata }) => metadata.name)).toEqual(["b"]);
    expect(problems).toEqual([
      "Cannot keep an index of Secret for plugin 'sizes': add Secret to its 'reads'",
      "Cannot keep an index for plugin 'sizes': expected what defineIndex returns",
    ]);
  });

  test("what is to end ends with the module, last first, after runnables, which tell the time and wait by the clock", async () => {
    const { add, manager, clock, lines } = await start();
    const events: string[] = [];
    await add(
      "a.ts",
      plugin("pool", (registry) => {
        registry.onLeave(async () => void events.push("pool closed"));
        registry.onLeave(() => {
          throw new Error("it does not close");
        });
        registry.run(async ({ sleep, now, signal }) => {
          const began = now();
          await sleep("1h");
          events.push(`${(now() - began) / 60_000} minutes`);
          await sleep("1h").catch(() => {});
          events.push(`runnable ended: ${signal.aborted}`);
        });
      }),
    );
    await clock.advanceInTurns(3_600_000);
    await until(() => events.length === 1);
    await manager.remove("a.ts");
    expect(events).toEqual(["60 minutes", "runnable ended: true", "pool closed"]);
    expect(lines.filter(({ msg }) => msg === "A module failed: the end of plugin pool")).toHaveLength(1);
  });
});

test("an end that never comes holds nobody up, not even after a setup that throws", async () => {
  const { add, manager, clock, lines } = await start();
  const endless = plugin("endless", (registry) => {
    registry.onLeave(() => new Promise(() => {}));
    throw new Error("it cannot be set up");
  });
  const added = add("a.ts", endless);
  added.catch(() => {});
  const next = add(
    "b.ts",
    plugin("next", () => {}),
  );
  let isDone = false;
  void next.then(() => (isDone = true));
  await until(async () => {
    await clock.advanceInTurns(1_000);
    return isDone;
  });
  await expect(added).rejects.toThrow("it cannot be set up");
  expect(manager.modules.has("b.ts")).toBe(true);
  const told = lines.filter(({ msg }) => msg === "A module failed: the end of plugin endless");
  expect(told).toMatchObject([{ error: { message: "the end of plugin endless did not end within 10 s" } }]);
});

describe("plugins that require others", () => {
  const named =
    (order: string[]) =>
    (name: string, requires: readonly string[] = []) =>
      plugin(name, () => void order.push(name), { requires });

  test("are set up after them, also across modules: a module waits for what it requires", async () => {
    const { add, manager, stateOf, lines } = await start();
    const order: string[] = [];
    const make = named(order);
    await add("a.ts", make("alpha", ["beta", "omega"]), make("beta", ["gamma"]), make("gamma"));
    expect(order).toEqual([]);
    const waiting =
      "unavailable: plugin 'alpha' requires the plugin 'omega', which no module has: add the module that exports it, or take it out of 'requires'";
    expect(stateOf("a.ts")).toBe(waiting);
    expect(lines.at(-1)).toMatchObject({ msg: "Cannot start a module yet: trying again", module: "a.ts" });
    await add("z.ts", make("omega"));
    await until(() => manager.modules.has("a.ts"));
    expect(order).toEqual(["omega", "gamma", "beta", "alpha"]);
    expect(stateOf("a.ts")).toBe("running");
    await manager.remove("z.ts");
    expect(stateOf("a.ts")).toBe(waiting);
    await add("z.ts", make("omega"));
    expect(stateOf("a.ts")).toBe("running");
  });

  test("in a circle are refused, in one module and across several", async () => {
    const { add, replace, stateOf } = await start();
    const make = named([]);
    await expect(add("a.ts", make("one", ["two"]), make("two", ["one"]))).rejects.toThrow(
      "Plugins require each other in a circle: one → two → one; take one of them out of its 'requires'",
    );
    await add("b.ts", make("one"));
    await add("c.ts", make("two", ["one"]));
    await expect(replace("b.ts", make("one", ["two"]))).rejects.toThrow("in a circle: one → two → one");
    expect([stateOf("b.ts"), stateOf("c.ts")]).toEqual(["running", "running"]);
  });

  test("are an error at once where nobody can come, as in a test", async () => {
    const { add } = await start({ retryInstalling: false });
    await expect(add("a.ts", named([])("one", ["two"]))).rejects.toThrow("plugin 'one' requires the plugin 'two'");
  });

  test("cannot be added by another plugin's setup", async () => {
    const { add } = await start();
    const adding = plugin("adding", (registry) => registry.add(plugin("other", () => {})));
    await expect(add("a.ts", adding)).rejects.toThrow(
      "Cannot add plugin 'other' in plugin 'adding': export it from the module",
    );
  });
});

test("a new version of a module has the metrics of its controllers in place of the old ones, which leave with it", async () => {
  const { cluster, manager, add, replace, synced } = await start();
  const counting = (name: string, by: number) =>
    defineController({
      name: "counting",
      for: watch(ConfigMap, { match: ({ metadata }) => metadata.name === "x" }),
      metrics: { runs: { type: "counter", name, help: "Runs" } },
      async reconcile(_, { metrics }) {
        metrics.runs.inc(by);
      },
    });
  const value = async (name: string) => seriesValue((await manager.metrics.text()).body, name);
  await add("counting.ts", counting("old_total", 1));
  await synced();
  await create(cluster, "x");
  await until(async () => (await value("old_total")) === 1);
  await replace("counting.ts", counting("old_total", 5));
  await until(async () => (await value("old_total")) === 5);
  await replace("counting.ts", counting("new_total", 7));
  await until(async () => (await value("new_total")) === 7);
  expect(await value("old_total")).toBeUndefined();
  const broken = counting("wrong", 1);
  await expect(replace("counting.ts", broken)).rejects.toThrow("the name of a counter ends with _total");
  expect(await value("new_total")).toBe(7);
  await manager.remove("counting.ts");
  expect(await value("new_total")).toBeUndefined();
});
