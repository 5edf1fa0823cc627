import { expect, test } from "bun:test";
import { Hono } from "hono";
import { HTTPException } from "hono/http-exception";
import type { RunningController } from "../controller/controller.ts";
import { controllerName } from "../controller/declarations.ts";
import { runSettings } from "../settings/run-options.ts";
import { DefinedKinds } from "../controller/defined-kinds.ts";
import { alwaysLeader } from "../client/leadership.ts";
import type { Runtime } from "../controller/runtime.ts";
import { createLog } from "../observe/log.ts";
import { createMetrics } from "../observe/metrics.ts";
import { type Clock, systemClock } from "../platform/clock.ts";
import { ConfigMap } from "../resource/builtin/index.ts";
import { HealthChecks, type HealthNote } from "../server/health-checks.ts";
import type { RateLimiter } from "../queue/rate-limiter.ts";
import { FakeClock } from "../testing/fake-clock.ts";
import { defineController, defineKeyController, definePlugin } from "./define.ts";
import type { LoadedModule } from "./loaded-module.ts";
import { definitionsOf } from "./module-definitions.ts";
import type { Definition } from "./definition.ts";
import type { Registry } from "./plugin.ts";
import { WorkQueue } from "../queue/work-queue.ts";
import { ModuleRegistry } from "./module-registry.ts";

type State = RunningController["state"];

/** Makes a registry whose controllers only record what is done to them. */
function setUp({
  clock = systemClock,
  drained = Promise.resolve(),
  grace = 50,
  strict,
}: { strict?: boolean; clock?: Clock; drained?: Promise<void>; grace?: number } = {}) {
  const events: string[] = [];
  const limiters = new Map<string, RateLimiter>();
  const states = new Map<string, { state: State; hasSynced: boolean; changed: () => void; queue: WorkQueue }>();
  const metrics = createMetrics();
  const lines: string[] = [];
  const log = createLog({ level: "debug", format: "json", write: (line) => void lines.push(line) });
  const health = { healthz: new HealthChecks(), livez: new HealthChecks(), readyz: new HealthChecks() };
  const runtime = {
    log,
    metrics,
    clock,
    leadership: alwaysLeader,
    settings: runSettings({ "grace-period": grace, strict }),
    definedKinds: new DefinedKinds(),
    finalizers: { stop() {} },
  } as unknown as Runtime;
  const registry = new ModuleRegistry(runtime, {
    health,
    start: (controller, _, { module, before, limiter }) => {
      const name = controllerName(controller);
      if (limiter !== undefined) limiters.set(name, limiter);
      before?.handOver();
      events.push(`start ${module} ${name}`);
      const queue = new WorkQueue({ name });
      const entry = { state: { kind: "syncing" } as State, hasSynced: false, changed: () => {}, queue };
      states.set(name, entry);
      return {
        name,
        module,
        get state() {
          return entry.state;
        },
        get hasSynced() {
          return entry.hasSynced;
        },
        finalizers: [],
        stuck: [],
        retire: () => Promise.reject(new Error("it has no finalizer")),
        reconcileAll() {},
        resource: undefined,
        concurrency: 1,
        works: () => false,
        retry() {},
        queue,
        onChange: (listener) => {
          entry.changed = listener;
          return { [Symbol.dispose]() {} };
        },
        resume: () => void events.push(`resume ${module} ${name}`),
        handOver: () => {
          events.push(`hand over ${module} ${name}`);
          return undefined as never;
        },
        quiesce: () => void events.push(`quiesce ${module} ${name}`),
        drained: () => drained,
        stop: async ({ grace }) => {
          await Bun.sleep(1);
          events.push(`stop ${module} ${name} ${grace}`);
        },
      };
    },
  });
  const module = (name: string, ...definitions: unknown[]): LoadedModule => ({
    name,
    file: `controllers/${name}`,
    definitions: definitionsOf({ default: definitions }),
    invoke: (fn) => fn(),
    dispose: () => void events.push(`dispose ${name}`),
  });
  const notes = () => Object.fromEntries(health.readyz.notes().map(([name, note]) => [name, textOf(note())]));
  return { registry, module, events, limiters, states, health, metrics, notes, lines };
}

const textOf = (told: ReturnType<HealthNote>) => (typeof told === "string" ? told : told?.text);
const checkOf = (checks: HealthChecks, name: string) => checks.checks().find(([one]) => one === name)?.[1];

const keyed = (name: string) => defineKeyController({ name, async reconcile() {} });

test("ModuleRegistry starts a module's controllers and drains them before its code goes", async () => {
  const { registry, module, events, notes } = setUp({ clock: new FakeClock() });
  await registry.add(module("a.ts", keyed("one"), keyed("two")));
  await registry.add(module("b.ts", keyed("three")));
  expect(Object.keys(notes())).toEqual(["module/a.ts", "module/b.ts"]);
  await registry.remove("a.ts");
  expect(events).toEqual([
    "start a.ts one",
    "start a.ts two",
    "start b.ts three",
    "stop a.ts one 50",
    "stop a.ts two 50",
    "dispose a.ts",
  ]);
  expect(Object.keys(notes())).toEqual(["module/b.ts"]);
  await registry.add(module("a.ts", keyed("one")));
  await registry.stop();
  expect(
    events
      .slice(-4)
      .filter((event) => event.startsWith("dispose"))
      .sort(),
  ).toEqual(["dispose a.ts", "dispose b.ts"]);
});

test("ModuleRegistry refuses a controller name that is taken, and names both files", async () => {
  const { registry, module, events } = setUp();
  await registry.add(module("a.ts", keyed("x")));
  const conflict = "Two controllers are called 'x', in controllers/a.ts and in controllers/b.ts";
  await expect(registry.add(module("b.ts", keyed("y"), keyed("x")))).rejects.toThrow(conflict);
  expect(events).toEqual(["start a.ts x"]);
});

test("ModuleRegistry replaces a module; after a conflict the old version runs on", async () => {
  const { registry, module, events } = setUp({ clock: new FakeClock() });
  await registry.add(module("a.ts", keyed("x")));
  await registry.add(module("b.ts", keyed("y")));
  await expect(registry.replace(module("a.ts", keyed("y")))).rejects.toThrow("Two controllers are called 'y'");
  expect(registry.has("a.ts")).toBe(true);
  expect(events).toEqual(["start a.ts x", "start b.ts y"]);
  await registry.replace(module("a.ts", keyed("x")));
  expect(events.slice(2)).toEqual(["hand over a.ts x", "start a.ts x"]);
  await registry.settled("a.ts");
  expect(events.slice(4)).toEqual(["stop a.ts x 50", "dispose a.ts"]);
});

test("ModuleRegistry shows what a module is doing", async () => {
  const { registry, module, states, notes } = setUp();
  await registry.add(module("a.ts", keyed("x")));
  expect(notes()).toEqual({ "module/a.ts": "loading" });
  states.get("x")!.hasSynced = true;
  states.get("x")!.state = { kind: "running" };
  expect(notes()).toEqual({ "module/a.ts": undefined });
  const { queue } = states.get("x")!;
  for (const key of ["ns/a", "ns/b", "ns/c", "ns/d"]) queue.failed(key);
  queue.park("ns/d", "there is no such size");
  queue.park("ns/e", "there is no such size");
  for (const key of ["ns/f", "ns/g"]) queue.park(key, "there is no such size");
  expect(notes()).toEqual({
    "module/a.ts": "running: failing: x ns/a, x ns/b, x ns/c; parked: x ns/d, x ns/e, x ns/f and 1 more",
  });
  for (const key of ["a", "b", "c", "d", "e", "f", "g"]) queue.forget(`ns/${key}`);
  expect(notes()).toEqual({ "module/a.ts": undefined });
  states.get("x")!.state = { kind: "unavailable", message: "listing is forbidden" };
  expect(notes()).toEqual({ "module/a.ts": "unavailable: x: listing is forbidden" });
  registry.markBroken("b.ts", { file: "controllers/b.ts", message: "boom" });
  expect(registry.statuses().map(({ name, state }) => `${name} ${state}`)).toEqual(["a.ts unavailable", "b.ts broken"]);
  await registry.add(module("b.ts", keyed("y")));
  expect(registry.statuses()[1]!.state).toBe("loading");
});

test("a module that has waited is listed while its plugins are set up", async () => {
  const { registry, module, notes } = setUp();
  const [begun, held] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const waiting = module(
    "a.ts",
    definePlugin({
      name: "slow",
      async setup() {
        begun.resolve();
        await held.promise;
      },
    }),
  );
  registry.postpone(waiting, "a kind is refused");
  const adding = registry.add(waiting);
  await begun.promise;
  expect(notes()).toEqual({ "module/a.ts": "loading" });
  held.resolve();
  await adding;
  expect(notes()).toEqual({ "module/a.ts": undefined });
});

test("ModuleRegistry with strict fails readiness where it would only list", async () => {
  const { registry, health } = setUp({ strict: true });
  registry.markBroken("b.ts", { file: "controllers/b.ts", message: "boom" });
  expect(health.readyz.notes()).toEqual([]);
  expect(await checkOf(health.readyz, "module/b.ts")?.()).toEqual({ cause: "broken", text: "broken: boom" });
  await registry.remove("b.ts");
  expect(health.readyz.checks()).toEqual([]);
});

test("what a plugin registers leaves with its module", async () => {
  const { registry, module, events, states, health, metrics } = setUp({ clock: new FakeClock() });
  let ran = false;
  const plugin = definePlugin({
    name: "web",
    setup(facade) {
      facade.add(defineController({ for: ConfigMap, async reconcile() {} }));
      facade.route(new Hono().get("/hello", (context) => context.text("hello")));
      facade.readyCheck("ready", () => {
        throw new Error("not yet");
      });
      facade.healthCheck("health", () => {});
      facade.metric({ name: "web_visits_total", help: "Visits", type: "counter", value: () => 3 });
      facade.run(async ({ signal }) => {
        ran = true;
        await new Promise((resolve) => signal.addEventListener("abort", resolve));
        events.push("runnable ended");
      });
    },
  });
  await registry.add(module("web.ts", plugin));
  const controller = states.get("configmap")!;
  controller.hasSynced = true;
  controller.changed();
  await Bun.sleep(0);
  expect(ran).toBe(true);
  expect(events).toEqual(["start web.ts configmap"]);
  expect(await (await registry.answer("web", sent(new Request("http://x/hello"))))!.text()).toBe("hello");
  const check = checkOf(health.readyz, "web/ready")!;
  expect(Promise.resolve(check())).rejects.toThrow("not yet");
  expect(checkOf(health.livez, "web/health")).toBeDefined();
  expect((await metrics.text()).body).toContain("web_visits_total 3");
  await registry.remove("web.ts");
  expect(events.slice(1)).toEqual(["stop web.ts configmap 50", "runnable ended", "dispose web.ts"]);
  expect(registry.answer("web", sent(new Request("http://x/hello")))).toBeUndefined();
  expect([...health.readyz.checks(), ...health.livez.checks(), ...health.healthz.checks()]).toEqual([]);
  expect((await metrics.text()).body).not.toContain("web_visits_total");
});

test("a plugin's route that throws is counted and answered, and may answer itself", async () => {
  const { registry, module } = setUp();
  const plugin = (name: string, app: Hono) => definePlugin({ name, setup: (facade) => facade.route(app) });
  const failing = (): never => {
    throw new Error("boom");
  };
  const own = new Hono().get("/", failing).onError((error, context) => context.text(`own ${error.message}`, 418));
  const refusing = (): never => {
    throw new HTTPException(401, { message: "who are you" });
  };
  const bare = new Hono().get("/", failing).get("/refused", refusing);
  await registry.add(module("web.ts", plugin("own", own), plugin("bare", bare)));
  const answer = (name: string, path = "") => registry.answer(name, sent(new Request(`http://x/${path}`)));
  expect((await answer("own"))!.status).toBe(418);
  expect(registry.statuses()[0]!.errors).toBe(0);
  expect((await answer("bare", "refused"))!.status).toBe(401);
  const plain = (await answer("bare"))!;
  expect([plain.status, await plain.text()]).toEqual([500, "500 internal server error\n"]);
  expect(registry.statuses()[0]!.errors).toBe(1);
});

test("a plugin whose setup throws leaves nothing behind", async () => {
  const { registry, module, events, health } = setUp();
  let kept: Registry | undefined;
  const plugin = definePlugin({
    name: "bad",
    setup(facade) {
      kept = facade;
      facade.healthCheck("x", () => {});
      throw new Error("no");
    },
  });
  await expect(registry.add(module("bad.ts", plugin, keyed("k")))).rejects.toThrow("no");
  expect(health.livez.checks()).toEqual([]);
  expect(registry.has("bad.ts")).toBe(false);
  expect(events).toEqual([]);
  expect(() => kept!.run(async () => {})).toThrow("Cannot register for plugin 'bad': setup is over");
});

test("a runnable that fails is counted, shown, started again with back-off, and stops nothing", async () => {
  const clock = new FakeClock();
  const { registry, module, notes } = setUp({ clock });
  let starts = 0;
  let isWell = false;
  const runnable = async ({ signal }: { signal: AbortSignal }): Promise<void> => {
    starts++;
    if (!isWell) throw new Error("boom");
    await new Promise((resolve) => signal.addEventListener("abort", resolve));
  };
  const plugin = definePlugin({ name: "p", setup: (facade) => facade.run(runnable) });
  await registry.add(module("p.ts", plugin));
  await clock.advanceInTurns(0);
  const message = "a runnable of plugin p failed once: boom";
  expect(registry.statuses()[0]).toMatchObject({ state: "unavailable", errors: 1, message });
  expect(notes()).toMatchObject({ "module/p.ts": `unavailable: ${message}` });
  await clock.advanceInTurns(999);
  expect(starts).toBe(1);
  await clock.advanceInTurns(1);
  expect(starts).toBe(2);
  await clock.advanceInTurns(1_999);
  expect(starts).toBe(2);
  isWell = true;
  await clock.advanceInTurns(1);
  expect([starts, registry.statuses()[0]!.state]).toEqual([3, "unavailable"]); // it may fail again at once
  await clock.advanceInTurns(60_000);
  expect(registry.statuses()[0]).toMatchObject({ state: "running", errors: 2 });
  await registry.remove("p.ts");
  expect([starts, clock.timers]).toEqual([3, 0]);
});

test("a runnable that does not end is given up after the grace period", async () => {
  const clock = new FakeClock();
  const { registry, module, events } = setUp({ clock });
  const plugin = definePlugin({ name: "p", setup: (facade) => facade.run(() => new Promise(() => {})) });
  await registry.add(module("p.ts", plugin));
  const removed = registry.remove("p.ts");
  await clock.advanceInTurns(49);
  expect(events).toEqual([]);
  await clock.advanceInTurns(1);
  await removed;
  expect(events).toEqual(["dispose p.ts"]);
});

const endless = definePlugin({ name: "endless", setup: () => new Promise<void>(() => {}) });

test("ModuleRegistry gives up on a plugin whose setup does not end, and goes on with the next module", async () => {
  const clock = new FakeClock();
  const { registry, module, events } = setUp({ clock });
  const first = registry.add(module("a.ts", endless));
  const second = registry.add(module("b.ts", keyed("one")));
  first.catch(() => {});
  await Bun.sleep(1);
  clock.advance(10_000);
  await expect(first).rejects.toThrow("the setup of plugin 'endless' did not end within 10 s");
  await second;
  expect(events).toEqual(["start b.ts one"]);
});

test("ModuleRegistry stops while a plugin is being set up", async () => {
  const { registry, module } = setUp();
  const added = registry.add(module("a.ts", endless));
  added.catch(() => {});
  await Bun.sleep(1);
  await registry.stop();
  await expect(added).rejects.toThrow("stopping");
});

test("ModuleRegistry starts nothing once it stops, neither what was added before in vain nor what is added after", async () => {
  const { registry, module, events, notes } = setUp();
  const slow = definePlugin({ name: "slow", setup: () => Bun.sleep(5) });
  const early = registry.add(module("early.ts", slow, keyed("early")));
  await Bun.sleep(1);
  const stopped = registry.stop();
  const late = registry.add(module("late.ts", keyed("late")));
  const replaced = registry.replace(module("replaced.ts", keyed("replaced")));
  for (const added of [early, late, replaced]) await expect(added).rejects.toThrow("stopping");
  await stopped;
  expect([events, registry.controllers, notes()]).toEqual([[], [], {}]);
});

/** Makes a plugin with one runnable, which runs until `end` resolves. */
const busy = (name: string, end: Promise<void>): Definition =>
  definePlugin({ name, setup: (registry) => registry.run(() => end, { leaderOnly: false }) });

test("ModuleRegistry ends in phases, and all of them share one grace period", async () => {
  const clock = new FakeClock();
  const never = new Promise<void>(() => {});
  const { registry, module, events, lines } = setUp({ clock, grace: 1_000, drained: never });
  await registry.add(module("a.ts", keyed("one"), busy("shop", never)));
  registry.quiesce();
  expect(events.slice(1)).toEqual(["quiesce a.ts one"]);
  const draining = registry.drain();
  clock.advance(1_000);
  await draining;
  const stopped = registry.stop();
  // Runnables get a last moment, although runs have used up the period.
  await clock.advanceInTurns(99);
  expect(events.at(-1)).not.toBe("dispose a.ts");
  while (events.at(-1) !== "dispose a.ts") await clock.advanceInTurns(1);
  await stopped;
  expect(events.slice(2)).toEqual(["stop a.ts one 0", "dispose a.ts"]);
  expect(lines.filter((line) => line.includes("Runnables did not end within the grace period"))).toHaveLength(1);
});

test("MGR-08 ModuleRegistry waits for nothing when the grace period is 0", async () => {
  const never = new Promise<void>(() => {});
  const { registry, module } = setUp({ grace: 0, drained: never });
  await registry.add(module("a.ts", keyed("one"), busy("shop", never)));
  const began = performance.now();
  registry.quiesce();
  await registry.drain();
  await registry.stop();
  expect(performance.now() - began).toBeLessThan(20_000); // the default is 30 s
});

test("MGR-07 ModuleRegistry says what did not end, also when another runnable failed", async () => {
  const { registry, module, lines } = setUp({ grace: 1 });
  const failing = definePlugin({
    name: "failing",
    setup: (registry) => registry.run(() => Promise.reject(new Error("no stock")), { leaderOnly: false }),
  });
  await registry.add(module("a.ts", busy("shop", new Promise(() => {})), failing));
  await Bun.sleep(1);
  await registry.stop();
  expect(lines.filter((line) => line.includes("no stock"))).toHaveLength(1);
  expect(lines.filter((line) => line.includes("Runnables did not end within the grace period"))).toHaveLength(1);
});

test("MGR-10 ModuleRegistry says nothing of a runnable that fails because it was to end", async () => {
  const { registry, module, lines } = setUp();
  const plugin = definePlugin({
    name: "shop",
    setup: (registry) =>
      registry.run(
        ({ signal }) => new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason))),
        {
          leaderOnly: false,
        },
      ),
  });
  await registry.add(module("a.ts", plugin));
  await Bun.sleep(1);
  await registry.stop();
  expect(lines.filter((line) => /"level":"(warn|error)"/.test(line))).toEqual([]);
});

test("a plugin's counters, gauges and histograms have labels, and leave with its module", async () => {
  const { registry, module, metrics } = setUp();
  const plugin = definePlugin({
    name: "shop",
    setup(facade) {
      facade.counter({ name: "shop_starts_total", help: "Starts" }).inc();
      const orders = facade.counter({ name: "shop_orders_total", help: "Orders", labels: ["kind", "region"] });
      orders.inc({ kind: "book", region: "eu" });
      orders.inc({ region: "eu", kind: "book" }, 2);
      const open = facade.gauge({ name: "shop_open", help: "Open", labels: ["region"] });
      open.set({ region: "eu" }, 5);
      open.dec({ region: "eu" });
      const seconds = facade.histogram({ name: "shop_seconds", help: "Seconds", labels: ["kind"], buckets: [1, 2] });
      seconds.observe({ kind: "book" }, 1.5);
      // @ts-expect-error a label is missing
      expect(() => orders.inc({ kind: "book" })).toThrow("it needs the labels kind, region, each a text");
      expect(() => orders.inc({ kind: "book", region: "eu" }, -1)).toThrow("a counter only goes up, got -1");
      for (const [value, text] of [
        [NaN, "NaN"],
        [undefined, "undefined"],
        ["3", '"3"'],
      ] as [number, string][]) {
        expect(() => open.set({ region: "eu" }, value)).toThrow(
          `Cannot write the metric 'shop_open': it needs a number, got ${text}`,
        );
        expect(() => seconds.observe({ kind: "book" }, value)).toThrow(`it needs a number, got ${text}`);
      }
      expect(() => orders.inc({ kind: "book", region: "eu" }, NaN)).toThrow("it needs a number, got NaN");
      expect(() => facade.counter({} as never)).toThrow("Cannot add a metric: it needs { name, help }, each a text");
      expect(() => facade.gauge({ name: "shop_a" } as never)).toThrow("it needs { name, help }");
      expect(() => facade.gauge({ name: "shop_a", help: "", labels: "a" } as never)).toThrow("must be a list of names");
      expect(() => facade.counter({ name: "shop_visits", help: "" })).toThrow("the name of a counter ends with _total");
      expect(() => facade.gauge({ name: "shop-open", help: "" })).toThrow(
        "its name takes letters, digits and underscores",
      );
      expect(() => facade.gauge({ name: "shop_open", help: "" })).toThrow("a metric with that name exists");
      expect(() => facade.gauge({ name: "shop_a", help: "", labels: ["a-b"] })).toThrow("'a-b' is no name of a label");
      expect(() => facade.gauge({ name: "shop_a", help: "", labels: ["a", "a"] })).toThrow("'a' is there twice");
      expect(() => facade.histogram({ name: "shop_h", help: "", labels: ["le"] })).toThrow(
        "'le' is no name of a label",
      );
      expect(() => facade.histogram({ name: "shop_h", help: "", buckets: [2, 1] })).toThrow("its buckets must rise");
    },
  });
  await registry.add(module("shop.ts", plugin));
  const { body } = await metrics.text();
  expect(body).toContain("shop_starts_total 1");
  expect(body).toContain('shop_orders_total{kind="book",region="eu"} 3');
  expect(body).toContain('shop_open{region="eu"} 4');
  expect(body).toContain('shop_seconds_bucket{le="1",kind="book"} 0');
  expect(body).toContain('shop_seconds_count{kind="book"} 1');
  await registry.remove("shop.ts");
  expect((await metrics.text()).body).not.toContain("shop_");
});

test("ModuleRegistry shows and tells that a controller is slowed or suspended, and resumes it when asked", async () => {
  const { registry, module, events, states, notes, lines } = setUp();
  await registry.add(module("a.ts", keyed("one"), keyed("two")));
  const set = (name: string, state: State) => {
    const entry = states.get(name)!;
    Object.assign(entry, { state, hasSynced: true });
    entry.changed();
  };
  set("two", { kind: "running" });
  set("one", { kind: "slowed", message: "all keys fail" });
  expect(notes()).toEqual({ "module/a.ts": "slowed: one: all keys fail" });
  set("one", { kind: "suspended", message: "no run succeeds" });
  expect(notes()).toEqual({ "module/a.ts": "suspended: one: no run succeeds" });
  expect(registry.statuses()[0]!.state).toBe("suspended");
  registry.resume();
  expect(events.slice(-2)).toEqual(["resume a.ts one", "resume a.ts two"]);
  set("one", { kind: "running" });
  expect(notes()).toEqual({ "module/a.ts": undefined });
  expect(lines.filter((line) => line.includes('"controller":"one"')).map((line) => JSON.parse(line).msg)).toEqual([
    "Controller slowed",
    "Controller suspended",
    "Controller runs",
  ]);
  await registry.stop();
});

/** A request that no listener has taken. */
const sent = (request: Request) => ({ request, connection: {} });

/** Makes a plugin that shows its version by a route, a check and a metric. */
const shop = (version: number, more: (registry: Registry) => void = () => {}): Definition =>
  definePlugin({
    name: "shop",
    setup(facade) {
      facade.route(new Hono().get("/", (context) => context.text(`version ${version}`)));
      facade.readyCheck("open", () => {
        throw new Error(`version ${version}`);
      });
      facade.metric({ name: "shop_version", help: "Version", value: () => version });
      more(facade);
    },
  });

test("a new version that cannot be set up leaves the one before as it was, and that is shown", async () => {
  const { registry, module, events, health, metrics, notes } = setUp();
  await registry.add(module("shop.ts", shop(1), keyed("one")));
  const isAsBefore = async () => {
    expect(await (await registry.answer("shop", sent(new Request("http://x/"))))!.text()).toBe("version 1");
    await expect(checkOf(health.readyz, "shop/open")!()).rejects.toThrow("version 1");
    expect((await metrics.text()).body).toContain("shop_version 1");
    expect(events).toEqual(["start shop.ts one"]);
  };
  const bad = (plugin: Definition) => registry.replace(module("shop.ts", plugin, keyed("one")));
  const throws = (): never => {
    throw new Error("not today");
  };
  await expect(bad(shop(2, throws))).rejects.toThrow("not today");
  await isAsBefore();
  await registry.add(
    module(
      "other.ts",
      definePlugin({ name: "other", setup: (facade) => void facade.gauge({ name: "other_open", help: "" }) }),
    ),
  );
  await expect(bad(shop(2, (facade) => void facade.gauge({ name: "other_open", help: "" })))).rejects.toThrow(
    "other_open",
  );
  await isAsBefore();
  registry.markBroken("shop.ts", { file: "controllers/shop.ts", message: "not today" });
  expect(notes()["module/shop.ts"]).toBe(
    "broken: the previous version keeps running, because the newest cannot: not today",
  );
  expect((await registry.replace(module("shop.ts", shop(3), keyed("one")))) as unknown).toBeUndefined();
  expect(await (await registry.answer("shop", sent(new Request("http://x/"))))!.text()).toBe("version 3");
  expect((await metrics.text()).body).toContain("shop_version 3");
  expect(notes()["module/shop.ts"]).toBe("loading");
  expect(registry.statuses().find(({ name }) => name === "shop.ts")!.reloads).toEqual({ succeeded: 1, failed: 1 });
});

test("a limiter that throws is told as an error of its module, and its keys back off as by default", async () => {
  const { registry, module, limiters, lines } = setUp();
  const throws = (): never => {
    throw new Error("no delay today");
  };
  const limiter = () => ({ delay: throws, forget() {}, failures: () => 0 });
  await registry.add(module("a.ts", defineKeyController({ name: "one", retry: { limiter }, async reconcile() {} })));
  expect([1, 2, 3].map(() => limiters.get("one")!.delay("key"))).toEqual([5, 10, 20]);
  const told = lines.filter((line) => line.includes("no delay today"));
  expect(told).toHaveLength(1);
  expect(told[0]).toContain("`retry.limiter` of controller 'one'");
  expect(registry.statuses()[0]!.errors).toBe(1);
});

test("a new version whose `retry.limiter` throws leaves the one before running, whichever controller has it", async () => {
  const { registry, module, events } = setUp();
  await registry.add(module("a.ts", keyed("one")));
  const limited = (name: string) => {
    const limiter = (): never => {
      throw new Error("no limiter today");
    };
    return defineKeyController({ name, retry: { limiter }, async reconcile() {} });
  };
  await expect(registry.replace(module("a.ts", limited("one")))).rejects.toThrow("no limiter today");
  await expect(registry.replace(module("a.ts", keyed("one"), limited("two")))).rejects.toThrow("no limiter today");
  expect(events).toEqual(["start a.ts one"]);
  expect(registry.controllers.map(({ name }) => name)).toEqual(["one"]);
});

test("a new version works while the one before ends: what it was asked is answered, and runnables never run twice", async () => {
  const { registry, module, events } = setUp({ grace: 60_000 });
  const asked = Promise.withResolvers<void>();
  const ended = Promise.withResolvers<void>();
  const slow = definePlugin({
    name: "shop",
    setup(facade) {
      facade.route(new Hono().get("/", async (context) => context.text(`one ${String(await asked.promise)}`)));
      facade.run(
        async ({ signal }) => {
          await new Promise((resolve) => signal.addEventListener("abort", resolve));
          await ended.promise;
          events.push("runnable of one ended");
        },
        { leaderOnly: false },
      );
    },
  });
  await registry.add(module("shop.ts", slow));
  const answer = registry.answer("shop", sent(new Request("http://x/")))!;
  const runs = (facade: Registry) =>
    facade.run(async () => void events.push("runnable of two runs"), { leaderOnly: false });
  await registry.replace(module("shop.ts", shop(2, runs)));
  expect(await (await registry.answer("shop", sent(new Request("http://x/"))))!.text()).toBe("version 2");
  await Bun.sleep(1);
  expect(events).toEqual([]);
  ended.resolve();
  await Bun.sleep(1);
  expect(events).toEqual(["runnable of one ended"]);
  asked.resolve();
  expect(await (await answer).text()).toBe("one undefined");
  await registry.settled("shop.ts");
  await Bun.sleep(1);
  expect(events).toEqual(["runnable of one ended", "dispose shop.ts", "runnable of two runs"]);
});

test("a controller that is not continued ends before another one of the module begins", async () => {
  const { registry, module, events } = setUp({ clock: new FakeClock() });
  await registry.add(module("a.ts", keyed("kept"), keyed("gone")));
  await registry.replace(module("a.ts", keyed("new"), keyed("kept")));
  expect(events.slice(2)).toEqual(["hand over a.ts kept", "start a.ts kept", "stop a.ts gone 50", "start a.ts new"]);
  await registry.settled("a.ts");
  expect(registry.controllers.map(({ name }) => name)).toEqual(["kept", "new"]);
});
