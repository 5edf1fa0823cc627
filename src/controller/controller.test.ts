import { afterEach, expect, test } from "bun:test";
import { listOf, refusal, ScriptedServer } from "../../tests/support/scripted-server.ts";
import { until } from "../../tests/support/until.ts";
import { InformerRegistry } from "../cache/informer-registry.ts";
import { alwaysLeader, type Leadership } from "../client/leadership.ts";
import { EventRecorder } from "../events/recorder.ts";
import { RestMapper } from "../kube/api/mapper.ts";
import type { Reachability } from "../kube/transport/reachability.ts";
import { createTransport, type Transport } from "../kube/transport/transport.ts";
import { createLog } from "../observe/log.ts";
import { createMetrics } from "../observe/metrics.ts";
import type { RunContext } from "../reconcile/context.ts";
import { TerminalError } from "../reconcile/errors.ts";
import { ConfigMap, Secret } from "../resource/builtin/core.ts";
import { runSettings } from "../settings/run-options.ts";
import { FakeClock } from "../testing/fake-clock.ts";
import { startController } from "./controller.ts";
import { DefinedKinds } from "./defined-kinds.ts";
import type { KeyController } from "./definition.ts";
import { FinalizerClaims } from "./finalizer-claims.ts";
import { RunTurns } from "./run-turns.ts";
import { source } from "./source.ts";
import { type MapOptions, watch } from "./watch.ts";

let cleanup = new AsyncDisposableStack();
afterEach(async () => {
  await cleanup.disposeAsync();
  cleanup = new AsyncDisposableStack();
});

function map(name: string, version: number) {
  const metadata = { name, namespace: "ns", uid: `uid-${name}`, resourceVersion: String(version) };
  return { apiVersion: "v1", kind: "ConfigMap", metadata };
}

type Reconcile = KeyController["reconcile"];
type Enqueue = MapOptions<ConfigMap>["enqueue"];

/** A key controller of every ConfigMap; `objects` are there at the start. */
async function setUp(
  reconcile: Reconcile,
  options: {
    objects?: readonly string[];
    enqueue?: Enqueue;
    more?: Partial<KeyController>;
    onList?: ScriptedServer["onList"];
    leadership?: Leadership;
    reachability?: Reachability;
    errorBudget?: true;
  } = {},
) {
  const { objects = ["a"], enqueue = (object) => [object] } = options;
  const server = cleanup.use(await ScriptedServer.start());
  server.onList =
    options.onList ??
    (() => ({
      body: listOf(
        objects.map((name) => map(name, 1)),
        "1",
      ),
    }));
  const clock = new FakeClock();
  const transport = createTransport(server.config);
  cleanup.defer(() => transport.close());
  const lines: { msg: string; reason?: string }[] = [];
  const log = createLog({ level: "debug", format: "json", write: (line) => void lines.push(JSON.parse(line)) });
  const metrics = createMetrics();
  const mapper = new RestMapper(transport);
  const informers = new InformerRegistry({ transport, mapper, log, clock });
  cleanup.defer(() => informers.stop());
  const events = new EventRecorder({ transport, gate: alwaysLeader, clock, log, metrics, instance: "test" });
  const { leadership = alwaysLeader, reachability = transport.reachability } = options;
  const runtime = {
    transport: Object.create(transport, {
      reachability: { value: reachability },
      abortRefused: { value: () => transport.abortRefused() },
    }) as Transport,
    mapper,
    informers,
    events,
    finalizers: new FinalizerClaims({ clock, log }),
    definedKinds: new DefinedKinds(),
    turns: new RunTurns(),
    leadership,
    clock,
    log,
    metrics,
    settings: runSettings({ "error-budget": options.errorBudget }),
    warnUndeclared: false,
  };
  const definition: KeyController = {
    name: "keys",
    watches: [watch(ConfigMap, { enqueue })],
    reconcile,
    ...options.more,
  };
  const controller = startController(definition, runtime, { module: "m", invoke: (call) => call() });
  cleanup.defer(() => controller.stop({ grace: 0 }));
  const metric = async (name: string): Promise<number> => {
    const { body } = await metrics.text();
    const line = body.split("\n").find((one) => one.startsWith(`${name}{`));
    return line === undefined ? Number.NaN : Number(line.slice(line.lastIndexOf(" ") + 1));
  };
  const { queue } = controller;
  const idle = () => until(() => controller.hasSynced && queue.depth === 0 && queue.processing === 0);
  const version = { next: 2 };
  /** An event from outside. */
  const change = async (name: string): Promise<void> => {
    await until(() => server.watches.length > 0);
    server.watch.send(["MODIFIED", map(name, version.next++)]);
  };
  return { server, clock, runtime, controller, informers, queue, metric, idle, change, lines, log };
}

test("CTRL-01 a key that succeeds leaves the queue, without a failure", async () => {
  const { queue, idle } = await setUp(async () => {});
  await idle();
  expect([queue.failures("ns/a"), queue.delayed]).toEqual([0, 0]);
});

test("CTRL-02 a failure is retried with growing delays until a success, which starts over", async () => {
  let failures = 3;
  const attempts: number[] = [];
  const { clock, queue, idle } = await setUp(async (_key, { attempt }) => {
    attempts.push(attempt);
    if (failures-- > 0) throw new Error("no");
  });
  await idle();
  for (const delay of [5, 10, 20]) {
    expect(queue.delayed).toBe(1);
    await clock.advanceInTurns(delay - 1);
    expect(queue.delayed).toBe(1);
    await clock.advanceInTurns(1);
    await idle();
  }
  expect([attempts, queue.failures("ns/a"), queue.delayed]).toEqual([[1, 2, 3, 4], 0, 0]);
});

test("CTRL-04 requeueAfter forgets failures and waits exactly so long", async () => {
  let runs = 0;
  const { clock, queue, idle } = await setUp(async () => {
    if (++runs === 1) throw new Error("no");
    return runs === 2 ? { requeueAfter: "100ms" } : undefined;
  });
  await idle();
  await clock.advanceInTurns(5);
  await idle();
  expect([runs, queue.failures("ns/a"), queue.delayed]).toEqual([2, 0, 1]);
  await clock.advanceInTurns(99);
  expect(runs).toBe(2);
  await clock.advanceInTurns(1);
  await idle();
  expect(runs).toBe(3);
});

test("CTRL-06 an event runs a key that waits for its requeueAfter, and that run's result counts", async () => {
  let runs = 0;
  const { clock, queue, idle, change } = await setUp(async () => (++runs === 1 ? { requeueAfter: "1h" } : undefined));
  await idle();
  await change("a");
  await until(() => runs === 2);
  await idle();
  expect(queue.delayed).toBe(0);
  await clock.advanceInTurns(3_600_000);
  expect(runs).toBe(2);
});

test("CTRL-07 a throw is counted and retried, and other keys go on", async () => {
  const good: string[] = [];
  const { queue, idle, metric } = await setUp(
    async ({ name }) => {
      if (name === "bad") (undefined as unknown as () => void)();
      good.push(name);
    },
    { objects: ["bad", "good"] },
  );
  await idle();
  expect([good, queue.failures("ns/bad"), await metric("controller_runtime_reconcile_panics_total")]).toEqual([
    ["good"],
    1,
    1,
  ]);
});

test("CTRL-08 a run past its timeout is told by its signal, its key stays locked until it settles, and that is counted", async () => {
  const contexts: RunContext[] = [];
  let finish = (): void => {};
  const { clock, queue, idle, metric, controller, change } = await setUp(
    async (_key, context) => {
      contexts.push(context);
      context.signal.addEventListener("abort", () => {});
      await new Promise<void>((resolve) => (finish = resolve));
    },
    { more: { timeout: "10ms" } },
  );
  await until(() => contexts.length === 1);
  await clock.advanceInTurns(10);
  expect(contexts[0]!.signal.aborted).toBe(true);
  expect(String(contexts[0]!.signal.reason)).toContain("10 ms");
  expect(controller.stuck).toHaveLength(1);
  await change("a");
  await until(() => queue.depth === 1);
  expect(contexts).toHaveLength(1);
  expect(await metric("controller_runtime_reconcile_timeouts_total")).toBe(1);
  finish();
  await until(() => contexts.length === 2);
  finish();
  await idle();
  expect(await metric("controller_runtime_reconcile_timeouts_total")).toBe(1);
});

test("CTRL-08 a run that is stopped from outside has not timed out, nor has one without a limit", async () => {
  for (const timeout of ["10s", "1h"] as const) {
    let signal: AbortSignal | undefined;
    const { clock, controller, lines } = await setUp(
      async (_key, context) => {
        signal = context.signal;
        await new Promise<void>((resolve) => context.signal.addEventListener("abort", () => resolve()));
      },
      { more: timeout === "1h" ? {} : { timeout } },
    );
    await until(() => signal !== undefined);
    const stopped = controller.stop({ grace: 50 });
    await clock.advanceInTurns(50);
    await stopped;
    expect([signal!.aborted, lines.filter(({ msg }) => msg.includes("took too long"))]).toEqual([true, []]);
  }
});

test("stop ends also when a run never does: it is cancelled after the grace, given up soon after that, and told", async () => {
  let begun = false;
  const { clock, controller, lines } = await setUp(() => {
    begun = true;
    return new Promise<void>(() => {});
  });
  await until(() => begun);
  let over = false;
  const stopped = controller.stop({ grace: 5_000 }).then(() => (over = true));
  await clock.advanceInTurns(4_999);
  expect([over, controller.stuck.length]).toEqual([false, 0]);
  await clock.advanceInTurns(1);
  expect(controller.stuck).toHaveLength(1);
  await clock.advanceInTurns(100);
  await stopped;
  expect(lines.filter(({ msg }) => msg.startsWith("Runs did not end"))).toHaveLength(1);
});

test("an enqueue that never answers holds back the first run for 30 s, not for ever", async () => {
  let runs = 0;
  const enqueue: Enqueue = (object) => (object.metadata.name === "a" ? new Promise<never>(() => {}) : [object]);
  const { clock, controller, lines } = await setUp(async () => void runs++, { objects: ["a", "b"], enqueue });
  await until(() => controller.queue.depth === 1);
  await clock.advanceInTurns(29_999);
  expect(runs).toBe(0);
  await clock.advanceInTurns(1);
  await until(() => runs === 1);
  expect(lines.filter(({ msg }) => msg.includes("has not answered for 30 s"))).toHaveLength(1);
});

test("a key that is given up while an event of it waits runs again, and nobody is told that it is parked", async () => {
  let runs = 0;
  const waiting = Promise.withResolvers<void>();
  const { queue, change, idle, lines } = await setUp(async () => {
    if (++runs > 1) return;
    await waiting.promise;
    throw new TerminalError("never");
  });
  await until(() => runs === 1);
  await change("a");
  await until(() => queue.depth === 1);
  waiting.resolve();
  await until(() => runs === 2);
  await idle();
  expect(queue.parked.size).toBe(0);
  expect(lines.filter(({ msg }) => msg.startsWith("Parked"))).toEqual([]);
});

test("requeueAfter of 0 without anything to wait for lets everything else happen", async () => {
  let runs = 0;
  let others = 0;
  let over = false;
  const reconcile: Reconcile = async ({ name }) => {
    if (name === "b") others++;
    else if (runs++ === 0) setImmediate(() => (over = true));
    return name === "b" || over || runs > 20_000 ? undefined : { requeueAfter: 0 };
  };
  const { idle } = await setUp(reconcile, { objects: ["a", "b"] });
  await idle();
  expect([over, others]).toEqual([true, 1]);
  expect(runs).toBeLessThan(10_000);
});

test("all events of a piece of the stream reach all controllers and the store before the first run", async () => {
  const happened: string[] = [];
  let begun = false;
  const { server, runtime, queue, informers, idle } = await setUp(
    async ({ name }) => {
      if (!begun) return;
      const stored = informers.all()[0]!.store.get(`ns/${name}`)!.metadata.resourceVersion;
      happened.push(`run ${name}@${stored}`);
    },
    { objects: ["a", "b"] },
  );
  const other: KeyController = {
    name: "other",
    watches: [
      watch(ConfigMap, {
        on: ({ object }) => {
          if (begun) happened.push(`other hears of ${object.metadata.name}@${object.metadata.resourceVersion}`);
          return false;
        },
        enqueue: (object) => [object],
      }),
    ],
    reconcile: async () => {},
  };
  const second = startController(other, runtime, { module: "m", invoke: (call) => call() });
  cleanup.defer(() => second.stop({ grace: 0 }));
  await until(() => second.hasSynced && server.watches.length === 1);
  await idle();
  begun = true;
  const updates = Array.from({ length: 200 }, (_, index) => ["MODIFIED", map("a", index + 2)] as const);
  server.watch.send(...updates, ["MODIFIED", map("b", 202)]);
  await until(() => happened.filter((one) => one.startsWith("run")).length >= 2);
  await until(() => queue.depth === 0 && queue.processing === 0);
  expect(happened.slice(0, 201).every((one) => one.startsWith("other hears"))).toBe(true);
  expect(happened.slice(201)).toEqual(["run a@201", "run b@202"]);
});

test("runs that only compute leave everything else its turn", async () => {
  const objects = Array.from({ length: 60 }, (_, index) => `o-${index}`);
  let runs = 0;
  let turns = 0;
  let last: () => void = () => {};
  const over = new Promise<void>((resolve) => (last = resolve));
  const count = (): void => {
    if (runs > 0) turns++;
    if (runs < objects.length) setTimeout(count, 0);
  };
  count();
  await setUp(
    async () => {
      const end = performance.now() + 10;
      while (performance.now() < end);
      if (++runs === objects.length) last();
    },
    { objects },
  );
  await over;
  expect(turns).toBeGreaterThan(objects.length / 3);
});

test("CTRL-10 no run before every handler has dealt with the initial list, also one that takes its time", async () => {
  const names = Array.from({ length: 20 }, (_, index) => `o${index}`);
  const ran: string[] = [];
  let open = (): void => {};
  const opened = new Promise<void>((resolve) => (open = resolve));
  let asked = 0;
  const { idle } = await setUp(async ({ name }) => void ran.push(name), {
    objects: names,
    enqueue: async (object) => {
      asked++;
      await opened;
      return [object];
    },
  });
  await until(() => asked === 20);
  await new Promise((resolve) => setTimeout(resolve, 10));
  expect(ran).toEqual([]);
  open();
  await idle();
  expect(ran.sort()).toEqual(names.sort());
});

test("enqueue is asked of nothing before all caches have synced, and then of each object as it is now, as new", async () => {
  const asked: string[] = [];
  const secrets = Promise.withResolvers<void>();
  const { server, idle, informers } = await setUp(async () => {}, {
    onList: async ({ path }) => {
      if (path.endsWith("/configmaps")) return { body: listOf([map("a", 1), map("b", 1)], "1") };
      await secrets.promise;
      return { body: { ...listOf([], "1"), kind: "SecretList" } };
    },
    more: {
      reads: [Secret],
      watches: [
        watch(ConfigMap, {
          on: ({ type, object }) => {
            asked.push(`${type} ${object.metadata.name}@${object.metadata.resourceVersion}`);
            return true;
          },
          enqueue: (object) => [object],
        }),
      ],
    },
  });
  await until(() => server.watches.length === 1);
  server.watch.send(["MODIFIED", map("a", 2)], ["DELETED", map("b", 3)], ["ADDED", map("c", 4)]);
  await until(() => informers.all().some(({ resourceVersion }) => resourceVersion === "4"));
  expect(asked).toEqual([]);
  secrets.resolve();
  await idle();
  expect(asked).toEqual(["create a@2", "create c@4"]);
});

test("CTRL-13 never two runs of a key, and events during a run are one more run", async () => {
  let running = 0;
  let most = 0;
  let runs = 0;
  const finish: (() => void)[] = [];
  const { queue, idle, change } = await setUp(async () => {
    runs++;
    most = Math.max(most, ++running);
    await new Promise<void>((resolve) => finish.push(resolve));
    running--;
  });
  await until(() => runs === 1);
  for (let event = 0; event < 5; event++) await change("a");
  await until(() => queue.depth === 1);
  finish.shift()!();
  await until(() => runs === 2);
  finish.shift()!();
  await idle();
  expect([most, runs]).toEqual([1, 2]);
});

test("SRC-01 a deletion that was not seen is told with the last known object", async () => {
  const ran: string[] = [];
  const { server, idle } = await setUp(async ({ name }) => void ran.push(name), { objects: ["a", "b"] });
  await idle();
  await until(() => server.watches.length > 0);
  server.onList = () => ({ body: listOf([map("b", 1)], "9") });
  server.watch.send(["ERROR", refusal(410, "Expired", "too old").body]);
  await until(() => ran.length === 3);
  expect(ran).toEqual(["a", "b", "a"]);
});

test("source.every and source.cron queue the controller's own key in time, and source.from what it yields", async () => {
  const ran: string[] = [];
  const events = (async function* () {
    yield { name: "x" };
    yield { namespace: "n", name: "y" };
  })();
  const { clock, idle } = await setUp(async ({ namespace, name }) => void ran.push(`${namespace ?? ""}/${name}`), {
    objects: [],
    more: { watches: [source.every("10s"), source.cron("*/30 * * * * *"), source.from(events)] },
  });
  await until(() => ran.length === 2);
  expect(ran.splice(0)).toEqual(["/x", "n/y"]);
  clock.advance(30_000 - (clock.now() % 30_000));
  const seen = ran.length;
  for (let second = 0; second < 30; second++) await clock.advanceInTurns(1_000);
  await idle();
  expect(ran.every((one) => one === "/keys")).toBe(true);
  expect(ran.length - seen).toBeGreaterThanOrEqual(3);
});

test.each([source.every("10s"), source.cron("*/10 * * * * *")])(
  "HDL-06 what a source of times queues is worked on after fresh events: %p",
  async (times) => {
    const ran: string[] = [];
    const first = Promise.withResolvers<void>();
    const reconcile: Reconcile = async ({ name }) => {
      ran.push(name);
      if (name === "a") await first.promise;
    };
    const { clock, change, queue, idle } = await setUp(reconcile, {
      more: { concurrency: 1, watches: [times, watch(ConfigMap, { enqueue: (object) => [object] })] },
    });
    await until(() => ran.length === 1);
    await clock.advanceInTurns(10_000);
    await change("b");
    await until(() => queue.depth === 2);
    first.resolve();
    await idle();
    expect(ran).toEqual(["a", "b", "keys"]);
  },
);

test("a source that fails is told, and stops nobody", async () => {
  const failing = (async function* (): AsyncGenerator<{ name: string }> {
    yield { name: "x" };
    throw new Error("dried up");
  })();
  const ran: string[] = [];
  const { lines, idle, change } = await setUp(async ({ name }) => void ran.push(name), {
    more: { watches: [source.from(failing), watch(ConfigMap, { enqueue: (object) => [object] })] },
  });
  await until(() => ran.includes("x") && ran.includes("a"));
  await until(() => lines.some(({ msg }) => msg === "A source failed"));
  await change("a");
  await until(() => ran.length === 3);
  await idle();
});

test("a source that fails as it is ended disturbs nobody", async () => {
  const unhandled: unknown[] = [];
  const onUnhandled = (error: unknown): void => void unhandled.push(error);
  process.on("unhandledRejection", onUnhandled);
  const events: AsyncIterable<never> = {
    [Symbol.asyncIterator]: () => ({
      next: () => new Promise<never>(() => {}),
      return: () => Promise.reject(new Error("cannot close")),
    }),
  };
  const { clock, controller, idle, lines } = await setUp(async () => {}, { more: { watches: [source.from(events)] } });
  await idle();
  const stopped = controller.stop({ grace: 0 });
  await clock.advanceInTurns(200);
  await stopped;
  await Bun.sleep(1);
  process.off("unhandledRejection", onUnhandled);
  expect(unhandled).toEqual([]);
  expect(lines.filter(({ msg }) => msg === "A source failed")).toHaveLength(1);
});

test("minInterval and debounce of a controller hold back its keys", async () => {
  const ran: number[] = [];
  const { clock, queue, change } = await setUp(async () => void ran.push(clock.now()), {
    more: { minInterval: "10s", debounce: "1s" },
  });
  const began = clock.now();
  await until(() => queue.delayed === 1);
  await clock.advanceInTurns(1_000);
  await until(() => ran.length === 1);
  await change("a");
  await until(() => queue.delayed === 1);
  await clock.advanceInTurns(10_000);
  await until(() => ran.length === 2);
  expect(ran.map((at) => at - began)).toEqual([1_000, 11_000]);
});

test("caches that do not sync in time mark their controller, which goes on by itself", async () => {
  const { server, controller, clock, lines } = await setUp(async () => {}, {
    more: { syncTimeout: "30s" },
    onList: () => new Promise(() => {}),
  });
  await until(() => server.lists.length === 1);
  expect(controller.state.kind).toBe("syncing");
  await clock.advanceInTurns(30_000);
  expect(controller.state).toEqual({ kind: "unavailable", message: "not listed within 30 s: ConfigMap" });
  expect(lines.map(({ msg }) => msg)).toContain("Caches have not synced in time");
});

test("a controller that is stopped as soon as it was started is stopped, and says so", async () => {
  const { controller } = await setUp(async () => {}, { onList: () => new Promise(() => {}) });
  const told: string[] = [];
  controller.onChange(() => void told.push(controller.state.kind));
  await controller.stop({ grace: 0 });
  expect(controller.state).toEqual({ kind: "stopped" });
  expect(told.at(-1)).toBe("stopped");
});

test("a process that led before it was stopped begins no run when it wakes", async () => {
  let refused: string | undefined;
  const leadership: Leadership = {
    get refused() {
      return refused;
    },
    isLeader: true,
    onChange: () => ({ [Symbol.dispose]() {} }),
  };
  const ran: string[] = [];
  const { queue, idle, change } = await setUp(async ({ name }) => void ran.push(name), { leadership });
  await idle();
  // No timer has run, and so nobody has been told.
  refused = "leadership was lost";
  await change("b");
  await until(() => queue.depth === 1);
  await Bun.sleep(20);
  expect([ran, queue.depth]).toEqual([["a"], 1]);
});

test("metrics name what fails and what is parked, and a replica that loses the lead leaves that to the next", async () => {
  let lose = (): void => {};
  let isLeader = true;
  const leadership: Leadership = {
    get refused() {
      return isLeader ? undefined : "leadership was lost";
    },
    get isLeader() {
      return isLeader;
    },
    onChange(listener) {
      lose = () => listener((isLeader = false));
      return { [Symbol.dispose]() {} };
    },
  };
  const reconcile: Reconcile = async ({ name }) => {
    throw name === "wrong" ? new TerminalError("no") : new Error("not yet");
  };
  const { clock, idle, metric } = await setUp(reconcile, { leadership, objects: ["wrong", "late"] });
  await idle();
  clock.advance(3);
  const told = () =>
    Promise.all(
      ["binnacle_queue_parked", "binnacle_queue_failing", "binnacle_queue_longest_failing_seconds"].map(metric),
    );
  expect(await told()).toEqual([1, 1, 0.003]);
  lose();
  expect(await told()).toEqual([0, 0, 0]);
});

test("no run begins while a controller stops, also when its server comes back then", async () => {
  let tell = (_reachable: boolean): void => {};
  const reachability: Reachability = {
    reachable: true,
    outage: undefined,
    wait: async () => {},
    verify() {},
    onChange: (listener) => {
      tell = listener;
      return { [Symbol.dispose]() {} };
    },
  };
  const ran: string[] = [];
  const end = Promise.withResolvers<void>();
  const reconcile: Reconcile = async ({ name }) => {
    ran.push(name);
    if (name === "slow") await end.promise;
  };
  const { controller, clock, queue, idle, change } = await setUp(reconcile, { reachability });
  await idle();
  await change("slow");
  await until(() => ran.includes("slow"));
  const stopped = controller.stop({ grace: 1_000 });
  await change("late");
  await until(() => queue.depth === 1);
  tell(true);
  await Bun.sleep(20);
  expect(ran).toEqual(["a", "slow"]);
  end.resolve();
  await clock.advanceInTurns(0);
  await stopped;
  expect(ran).toEqual(["a", "slow"]);
});

test("a controller whose runs all fail is slowed, then suspended; what is new is tried first, and a success resumes it", async () => {
  let runs: string[] = [];
  let isMended = false;
  const objects = Array.from({ length: 8 }, (_, index) => `old${index}`);
  const { clock, controller, idle, change, metric } = await setUp(
    async ({ name }) => {
      runs.push(name);
      if (!isMended) throw new Error(`${name} is not handled`);
    },
    { objects, errorBudget: true },
  );
  await idle();
  /** Lets time pass in small steps, so that each run that may begin has ended before the next one. */
  const pass = async (seconds: number) => {
    for (let step = 0; step < seconds; step++) {
      await clock.advanceInTurns(1_000);
      await until(() => controller.queue.processing === 0);
    }
  };
  await pass(2);
  expect(controller.state).toEqual({
    kind: "slowed",
    message: expect.stringContaining("8 of the 8 keys that ran fail"),
  });
  runs = [];
  await pass(30);
  expect(runs.length).toBeLessThanOrEqual(31);
  await pass(60);
  expect(controller.state).toEqual({ kind: "suspended", message: expect.stringContaining("SIGUSR2") });
  expect(await metric("binnacle_controller_suspensions_total")).toBe(1);
  runs = [];
  await pass(300);
  expect(runs.length).toBeLessThanOrEqual(8);
  isMended = true;
  runs = [];
  await change("fresh");
  await until(() => controller.queue.depth > 8);
  await pass(60);
  expect(runs[0]).toBe("fresh");
  await until(() => controller.state.kind === "running");
  await idle();
  expect(new Set(runs)).toEqual(new Set(["fresh", ...objects]));
});

test("a controller that is suspended is resumed when that is asked for", async () => {
  let runs = 0;
  const objects = Array.from({ length: 8 }, (_, index) => `old${index}`);
  const { clock, controller } = await setUp(
    async () => {
      runs++;
      throw new Error("no");
    },
    { objects, errorBudget: true },
  );
  await until(() => runs === 8);
  for (let step = 0; step < 100 && controller.state.kind !== "suspended"; step++) {
    await clock.advanceInTurns(1_000);
    await until(() => controller.queue.processing === 0);
  }
  expect(controller.state.kind).toBe("suspended");
  controller.resume();
  expect(controller.state.kind).toBe("running");
  runs = 0;
  await until(() => runs >= 8);
});

test("a controller that throws at its 1,000th run is not limited, and the key that failed is retried", async () => {
  let runs = 0;
  const done = new Set<string>();
  const objects = Array.from({ length: 1_200 }, (_, index) => `o${index}`);
  const { clock, controller, idle } = await setUp(
    async ({ name }) => {
      if (++runs === 1_000) throw new Error("the 1,000th run");
      done.add(name);
    },
    { objects, errorBudget: true },
  );
  await idle();
  expect([controller.state.kind, done.size]).toEqual(["running", 1_199]);
  await clock.advanceInTurns(5);
  await idle();
  expect([controller.state.kind, done.size]).toEqual(["running", 1_200]);
});
