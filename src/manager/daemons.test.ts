import { afterEach, describe, expect, test } from "bun:test";
import { changed, defineController, RetryError, TerminalError, watch } from "binnacle";
import type { Daemon, DaemonContext, Duration } from "binnacle";
import { ConfigMap, Event } from "binnacle/resources";
import { until } from "../../tests/support/until.ts";
import type { ShapeOf } from "../controller/definition.ts";
import { collectDefinitions } from "../module/module-definitions.ts";
import { createLog } from "../observe/log.ts";
import { systemClock } from "../platform/clock.ts";
import { FakeClock, runModule, startCluster, type TestCluster } from "../testing/index.ts";
import { Manager } from "./manager.ts";

type Shape = ShapeOf<typeof ConfigMap>;
type Context = DaemonContext<Shape>;

let cleanup = new AsyncDisposableStack();
afterEach(async () => {
  await cleanup.disposeAsync();
  cleanup = new AsyncDisposableStack();
});

const GRACE = 2_000;

interface Options {
  readonly daemons?: Readonly<Record<string, Daemon<Shape>>>;
  readonly every?: Duration | ((object: ConfigMap) => Duration | undefined);
  readonly finalize?: () => Promise<void>;
  readonly concurrency?: number;
}

/** A controller of the ConfigMaps that have data `watched`, on an embedded server and by the time of the test. */
async function start(options: Options) {
  const cluster = cleanup.use(await startCluster({ pods: false }));
  const clock = new FakeClock();
  const lines: { readonly msg: string; readonly [field: string]: unknown }[] = [];
  const manager = new Manager({
    cluster: cluster.config,
    log: createLog({ level: "info", format: "json", write: (line) => void lines.push(JSON.parse(line)) }),
    clock,
    connectionClock: systemClock,
    settings: { "grace-period": GRACE },
    isolate: false,
    development: true,
  });
  cleanup.defer(() => manager.stop());
  const runs: string[] = [];
  const module = (given: Options) => {
    const definition = defineController({
      name: "watched",
      for: watch(ConfigMap, { namespaces: ["default"], match: ({ data }) => data?.["watched"] === "yes" }),
      onReload: "resume",
      ...given,
      async reconcile({ metadata }, { causes }) {
        runs.push(`${metadata.name}: ${causes.map(({ source }) => source).join(", ")}`);
      },
    });
    const definitions = collectDefinitions([definition]);
    return { name: "watched.ts", file: "watched.ts", definitions, invoke: <T>(fn: () => T) => fn(), dispose() {} };
  };
  await manager.add(module(options));
  const reload = (given: Options) => manager.replace(module(given));
  manager.loaded();
  const [controller] = manager.modules.controllers;
  await until(() => controller!.hasSynced);
  const state = async (state: string, daemon = "follow"): Promise<number> => {
    const { body } = await manager.metrics.text();
    const line = body
      .split("\n")
      .find(
        (one) => one.startsWith(`binnacle_daemons{`) && one.includes(`"${daemon}"`) && one.includes(`state="${state}"`),
      );
    return Number(line?.slice(line.lastIndexOf(" ") + 1));
  };
  return { cluster, clock, manager, reload, controller: controller!, lines, runs, state };
}

const at = (name: string) => ({ namespace: "default", name });
const create = ({ client }: TestCluster, name: string, data: Record<string, string> = {}) =>
  client.create(ConfigMap, { metadata: at(name), data: { watched: "yes", ...data } });
const change = ({ client }: TestCluster, name: string, data: Record<string, string>) =>
  client.patch(ConfigMap, at(name), { type: "merge", body: { data } });

/** Daemons that say what they do, and go on until they are told to end. */
function followers() {
  const events: string[] = [];
  const contexts = new Map<string, Context>();
  const follow = async (object: ConfigMap, context: Context): Promise<void> => {
    const { name } = object.metadata;
    events.push(`${name} begins`);
    contexts.set(name, context);
    const { promise, resolve } = Promise.withResolvers<void>();
    context.signal.addEventListener("abort", () => resolve(), { once: true });
    await promise;
    events.push(`${name} ends: ${(context.signal.reason as Error).message}`);
  };
  return { events, contexts, follow };
}

describe("daemons", () => {
  test("one runs beside each object, queues its key, and ends with the object", async () => {
    const { events, contexts, follow } = followers();
    const { cluster, runs, state } = await start({ daemons: { follow } });
    await create(cluster, "a");
    await create(cluster, "b");
    await create(cluster, "other", { watched: "no" });
    await until(() => events.length === 2);
    expect(events.toSorted()).toEqual(["a begins", "b begins"]);
    expect(await state("running")).toBe(2);
    const context = contexts.get("a")!;
    expect([context.key, context.attempt]).toEqual([at("a"), 1]);
    await until(() => runs.length === 2);
    context.enqueue("it failed over");
    await until(() => runs.includes("a: daemon follow: it failed over"));
    await change(cluster, "a", { size: "2" });
    await until(() => context.latest().data?.["size"] === "2");
    await cluster.client.delete(ConfigMap, at("a"));
    await until(() => events.includes("a ends: its object is gone"));
    expect(await state("running")).toBe(1);
    context.enqueue("too late");
    await change(cluster, "b", { watched: "no" });
    await until(() => events.includes("b ends: its object has it no more"));
    await change(cluster, "b", { watched: "yes" });
    await until(() => events.at(-1) === "b begins");
    expect(runs).not.toContain("a: daemon follow: too late");
  });

  test("what one writes runs the key, and is refused when it has ended", async () => {
    const { contexts, follow } = followers();
    const { cluster, runs } = await start({ daemons: { follow } });
    await create(cluster, "a");
    const context = await until(() => contexts.get("a"));
    await until(() => runs.length === 1);
    const { client } = context;
    await client.patch(ConfigMap, at("a"), { type: "merge", body: { data: { by: "daemon" } } });
    await until(() => runs.length === 2);
    await cluster.client.delete(ConfigMap, at("a"));
    await until(() => context.signal.aborted);
    await until(() =>
      client.create(ConfigMap, { metadata: at("late") }).then(
        () => false,
        (error: Error) => /ended/.test(error.message),
      ),
    );
  });

  test("one that throws is started again with back-off, by the clock, and a minute without failures begins it anew", async () => {
    let attempts: number[] = [];
    let isWell = false;
    const flaky = async (_: ConfigMap, { attempt, sleep }: Context): Promise<void> => {
      attempts.push(attempt);
      if (!isWell) throw new Error("no connection");
      await sleep("61s");
      throw new Error("lost");
    };
    const { cluster, clock, state, lines, manager } = await start({ daemons: { flaky } });
    await create(cluster, "a");
    await until(() => attempts.length === 1);
    for (const [pause, started] of [
      [1_000, 2],
      [2_000, 3],
    ] as const) {
      await until(async () => (await state("backing-off", "flaky")) === 1);
      await clock.advanceInTurns(pause - 1);
      expect(attempts).toHaveLength(started - 1);
      await clock.advanceInTurns(1);
      await until(() => attempts.length === started);
    }
    expect(attempts).toEqual([1, 2, 3]);
    expect((await manager.metrics.text()).body).toContain(
      'binnacle_daemon_failures_total{controller="watched",daemon="flaky"} 3',
    );
    expect(lines.filter(({ msg }) => msg === "A daemon failed")).toHaveLength(3);
    await until(async () => {
      const events = await cluster.client.list(Event, { namespace: "default" });
      return events.some(({ reason, note }) => reason === "DaemonFailed" && note === "daemon flaky: no connection");
    });
    isWell = true;
    attempts = [];
    await clock.advanceInTurns(4_000);
    await until(() => attempts.length === 1);
    await clock.advanceInTurns(61_000);
    await until(async () => (await state("backing-off", "flaky")) === 1);
    await clock.advanceInTurns(1_000);
    await until(() => attempts.length === 2);
    expect(attempts).toEqual([4, 2]);
  });

  test("a RetryError says when, a TerminalError that it is over, and one that resolves has done its work", async () => {
    const starts: string[] = [];
    const works = async ({ metadata: { name } }: ConfigMap): Promise<void> => {
      starts.push(name);
      if (name === "later" && starts.filter((one) => one === name).length === 1)
        throw new RetryError("not yet", { after: "10m" });
      if (name === "never") throw new TerminalError("no such thing");
    };
    const { cluster, clock, state, lines } = await start({ daemons: { follow: { run: works } } });
    for (const name of ["later", "never", "done"]) await create(cluster, name);
    await until(
      async () => starts.length === 3 && (await state("backing-off")) === 1 && (await state("running")) === 0,
    );
    await clock.advanceInTurns(599_999);
    expect(starts).toHaveLength(3);
    await clock.advanceInTurns(1);
    await until(() => starts.length === 4);
    expect(starts.at(-1)).toBe("later");
    expect(lines.some(({ msg }) => msg === "A daemon failed for good, and is not started again")).toBe(true);
    await change(cluster, "never", { size: "2" });
    await change(cluster, "done", { size: "2" });
    await clock.advanceInTurns(3_600_000);
    expect(starts).toHaveLength(4);
  });

  test("`when` says which objects have it, and `restartOn` which changes start it anew, one after the other", async () => {
    const { events, follow } = followers();
    const daemon = {
      run: follow,
      when: ({ data }: ConfigMap) => data?.["url"] !== undefined,
      restartOn: changed.path("data.url"),
    };
    const { cluster } = await start({ daemons: { follow: daemon } });
    await create(cluster, "a");
    await create(cluster, "b", { url: "one" });
    await until(() => events.length === 1);
    await change(cluster, "b", { size: "2" });
    await change(cluster, "b", { url: "two" });
    await until(() => events.length === 3);
    await change(cluster, "a", { url: "three" });
    await until(() => events.length === 4);
    expect(events).toEqual(["b begins", "b ends: it starts anew", "b begins", "a begins"]);
  });

  test("no more run at the same time than `concurrency` says: the others wait", async () => {
    const { events, follow } = followers();
    const { cluster, state, lines } = await start({ daemons: { follow: { run: follow, concurrency: 2 } } });
    for (const name of ["a", "b", "c", "d"]) await create(cluster, name);
    await until(async () => (await state("waiting")) === 2);
    expect([await state("running"), events]).toEqual([2, ["a begins", "b begins"]]);
    await cluster.client.delete(ConfigMap, at("c"));
    await until(async () => (await state("waiting")) === 1);
    await cluster.client.delete(ConfigMap, at("a"));
    await until(() => events.includes("d begins"));
    expect(events).not.toContain("c begins");
    expect(lines.filter(({ msg }) => msg.startsWith("As many daemons run as may"))).toHaveLength(1);
  });

  test("an object is finalized when its daemon has ended, or can write nothing any more", async () => {
    const hanging = Promise.withResolvers<void>();
    const events: string[] = [];
    const contexts: Context[] = [];
    const follow = async ({ metadata }: ConfigMap, context: Context): Promise<void> => {
      contexts.push(context);
      const { promise, resolve } = Promise.withResolvers<void>();
      context.signal.addEventListener("abort", () => resolve());
      await promise;
      if (metadata.name === "b") await hanging.promise;
      events.push("the daemon has ended");
    };
    const finalize = async (): Promise<void> => void events.push("finalized");
    const { cluster, clock, runs, controller, state, lines } = await start({ daemons: { follow }, finalize });
    await create(cluster, "a");
    await until(() => contexts.length === 1 && runs.length > 0);
    await cluster.client.delete(ConfigMap, at("a"));
    await until(async () => (await cluster.client.find(ConfigMap, at("a"))) === undefined);
    expect(events.splice(0)).toEqual(["the daemon has ended", "finalized"]);

    await create(cluster, "b");
    await until(
      async () =>
        contexts.length === 2 && (await cluster.client.get(ConfigMap, at("b"))).metadata.finalizers?.length === 1,
    );
    await cluster.client.delete(ConfigMap, at("b"));
    await until(() => contexts[1]!.signal.aborted && controller.queue.processing === 1);
    expect(events).toEqual([]);
    await clock.advanceInTurns(GRACE);
    await until(async () => (await cluster.client.find(ConfigMap, at("b"))) === undefined);
    expect(events).toEqual(["finalized"]);
    expect(lines.filter(({ daemon }) => daemon === "follow").map(({ msg, key, grace }) => [msg, key, grace])).toEqual([
      ["A daemon heeds no signal: finalize waits for it until the end of the grace period", "default/b", 2],
      ["A daemon has not ended: finalize begins beside it, its writes are refused", "default/b", 2],
    ]);
    expect([controller.stuck.map(({ key }) => key), await state("stuck")]).toEqual([["default/b (daemon follow)"], 1]);
    await expect(contexts[1]!.client.create(ConfigMap, { metadata: at("late") })).rejects.toThrow("being deleted");
    // Another object of the name gets its daemon when the one before it has ended.
    await create(cluster, "b");
    await controllerIsIdle(controller);
    expect(contexts).toHaveLength(2);
    hanging.resolve();
    await until(() => contexts.length === 3);
    expect(await state("stuck")).toBe(0);
  });

  test("they end with their module, within the grace period, and may write until then", async () => {
    const written = Promise.withResolvers<void>();
    const follow = async (_: ConfigMap, { signal, client }: Context): Promise<void> => {
      const { promise, resolve } = Promise.withResolvers<void>();
      signal.addEventListener("abort", () => resolve());
      await promise;
      await client.create(ConfigMap, { metadata: at("farewell") });
      written.resolve();
    };
    const { cluster, manager, state, clock } = await start({ daemons: { follow } });
    await create(cluster, "a");
    await until(async () => (await state("running")) === 1);
    await manager.remove("watched.ts");
    await written.promise;
    expect(await cluster.client.find(ConfigMap, at("farewell"))).toBeDefined();
    expect(await state("running")).toBeNaN();
    expect(clock.timers).toBe(0);
  });

  test("a reload ends them, and begins the new version's when those of the object have ended", async () => {
    const events: string[] = [];
    const hanging = Promise.withResolvers<void>();
    const daemon =
      (version: string) =>
      async (_: ConfigMap, { signal, sleep }: Context) => {
        events.push(`${version} begins`);
        await sleep("1h").catch(() => {});
        if (version === "old") await hanging.promise;
        events.push(`${version} ends: ${(signal.reason as Error).message}`);
      };
    const { cluster, reload, runs } = await start({ daemons: { follow: daemon("old") } });
    await create(cluster, "a");
    await until(() => events.length === 1 && runs.length === 1);
    await reload({ daemons: { follow: daemon("new") } });
    await create(cluster, "b"); // nothing keeps the daemons of other objects
    await until(() => events.length === 2 && runs.length === 2);
    expect(events.splice(0)).toEqual(["old begins", "new begins"]);
    hanging.resolve();
    await until(() => events.length === 2);
    expect(events).toEqual(["old ends: controller 'watched' is stopping", "new begins"]);
  });

  test("they end when the lead is lost, and begin again where it is gained", async () => {
    const clock = new FakeClock();
    const cluster = cleanup.use(await startCluster({ pods: false, clock }));
    const events: string[] = [];
    const replica = (by: string) =>
      defineController({
        name: "watched",
        for: ConfigMap,
        daemons: {
          async follow({ metadata: { name } }, { signal, sleep }) {
            if (name !== "a") return;
            events.push(`${by} begins`);
            await sleep("1h").catch(() => {});
            events.push(`${by} ends: ${(signal.reason as Error).message}`);
          },
        },
        async reconcile() {},
      });
    await create(cluster, "a");
    const options = { leaderElection: "watched", show: "none" } as const;
    const first = cleanup.use(await runModule(replica("first"), cluster, options));
    const second = cleanup.use(await runModule(replica("second"), cluster, options));
    await until(() => events.length === 1);
    using _fault = cluster.faults.takeLease(first);
    await until(async () => {
      await clock.advanceInTurns(500);
      return second.isLeader && events.includes("second begins");
    });
    expect(events).toEqual(["first begins", "first ends: leadership was lost", "second begins"]);
  });
});

test("where replicas divide the keys, an object has its daemon at one of them at a time", async () => {
  const cluster = cleanup.use(await startCluster({ pods: false }));
  const running = new Map<string, string>();
  const overlaps: string[] = [];
  const begin = async (identity: string): Promise<Manager> => {
    const manager = new Manager({
      cluster: cluster.config,
      log: createLog({ level: "error", format: "json", write: () => {} }),
      settings: { "grace-period": GRACE },
      isolate: false,
      sharding: {
        leaseDuration: 3_000,
        renewDeadline: 2_000,
        retryPeriod: 200,
        id: "daemons",
        namespace: "default",
        release: true,
        seats: 64,
        identity,
      },
    });
    cleanup.defer(() => manager.stop());
    const definition = defineController({
      name: "watched",
      for: watch(ConfigMap, { namespaces: ["default"], match: ({ data }) => data?.["watched"] === "yes" }),
      daemons: {
        async follow({ metadata: { name } }, { signal }) {
          const other = running.get(name);
          if (other !== undefined) overlaps.push(`${name}: ${identity} while ${other}`);
          running.set(name, identity);
          await new Promise((resolve) => signal.addEventListener("abort", resolve));
          await Bun.sleep(1);
          running.delete(name);
        },
      },
      async reconcile() {},
    });
    const definitions = collectDefinitions([definition]);
    await manager.add({ name: "watched.ts", file: "watched.ts", definitions, invoke: (fn) => fn(), dispose() {} });
    manager.loaded();
    return manager;
  };
  const names = Array.from({ length: 30 }, (_, index) => `object-${index}`);
  for (const name of names) await create(cluster, name);
  const at = (identity: string) => [...running.values()].filter((one) => one === identity).length;
  await begin("first");
  await until(() => at("first") === names.length);
  const second = await begin("second");
  await until(() => at("second") > 0 && running.size === names.length);
  await second.stop();
  await until(() => at("first") === names.length);
  expect(overlaps).toEqual([]);
}, 180_000);

describe("every", () => {
  test("each object runs again after its interval, counted from when it is there, until it is gone", async () => {
    const { cluster, clock, runs } = await start({ every: "10m" });
    await create(cluster, "a");
    await until(() => runs.length === 1);
    await clock.advanceInTurns(300_000);
    await create(cluster, "b");
    await until(() => runs.length === 2);
    runs.length = 0;
    await clock.advanceInTurns(300_000);
    await until(() => runs.length === 1);
    await clock.advanceInTurns(300_000);
    await until(() => runs.length === 2);
    expect(runs).toEqual(["a: every", "b: every"]);
    await cluster.client.delete(ConfigMap, at("a"));
    await change(cluster, "b", { watched: "no" });
    await create(cluster, "c"); // once it has run, what was before it has arrived
    await until(() => runs.length === 3);
    await clock.advanceInTurns(600_000);
    await until(() => runs.length === 4);
    expect(runs.slice(2)).toEqual(["c: for", "c: every"]);
  });

  test("a reload moves no timer whose interval is the same", async () => {
    const { cluster, clock, runs, reload } = await start({ every: "10m" });
    await create(cluster, "a");
    await until(() => runs.length === 1);
    await clock.advanceInTurns(540_000);
    await reload({ every: () => "10m" });
    await clock.advanceInTurns(60_000);
    await until(() => runs.length === 2);
    await reload({ every: "2m" });
    await clock.advanceInTurns(119_999);
    expect(runs).toEqual(["a: for", "a: every"]);
    await clock.advanceInTurns(1);
    await until(() => runs.length === 3);
  });

  test("each object may have an interval of its own, and another one after a change", async () => {
    const every = ({ data }: ConfigMap) => data?.["every"] as Duration | undefined;
    const { cluster, clock, runs, controller, lines } = await start({ every });
    await create(cluster, "a", { every: "1m" });
    await create(cluster, "b");
    await create(cluster, "c", { every: "soon" });
    await until(() => runs.length === 3);
    await controllerIsIdle(controller);
    runs.length = 0;
    await clock.advanceInTurns(60_000);
    await until(() => runs.length === 1);
    await change(cluster, "a", { every: "5m" });
    await until(() => runs.length === 2);
    await clock.advanceInTurns(299_999);
    await controllerIsIdle(controller);
    expect(runs).toEqual(["a: every", "a: for"]);
    await clock.advanceInTurns(1);
    await until(() => runs.length === 3);
    expect(lines.some(({ msg }) => msg === "A 'every' function threw")).toBe(true);
  });
});

async function controllerIsIdle({
  queue,
}: {
  readonly queue: { readonly depth: number; readonly processing: number };
}): Promise<void> {
  await until(() => queue.depth === 0 && queue.processing === 0);
}
