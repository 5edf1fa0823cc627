import { afterEach, expect, test } from "bun:test";
import { listOf, ScriptedServer } from "../../tests/support/scripted-server.ts";
import { until } from "../../tests/support/until.ts";
import { InformerRegistry } from "../cache/informer-registry.ts";
import { alwaysLeader, type Leadership } from "../client/leadership.ts";
import { EventRecorder } from "../events/recorder.ts";
import { RestMapper } from "../kube/api/mapper.ts";
import { createTransport } from "../kube/transport/transport.ts";
import { createLog } from "../observe/log.ts";
import { createMetrics } from "../observe/metrics.ts";
import { causesText } from "../queue/entries.ts";
import type { ObjectContext, Result } from "../reconcile/context.ts";
import { TerminalError } from "../reconcile/errors.ts";
import { ConfigMap } from "../resource/builtin/core.ts";
import type { AnyObject, Shape } from "../resource/handle.ts";
import { runSettings } from "../settings/run-options.ts";
import { FakeClock } from "../testing/fake-clock.ts";
import { type RunningController, startController } from "./controller.ts";
import { DefinedKinds } from "./defined-kinds.ts";
import type { AnyController, AnyObjectController, KeyController } from "./definition.ts";
import { FinalizerClaims } from "./finalizer-claims.ts";
import { RunTurns } from "./run-turns.ts";
import { source } from "./source.ts";
import { watch } from "./watch.ts";

let cleanup = new AsyncDisposableStack();
afterEach(async () => {
  await cleanup.disposeAsync();
  cleanup = new AsyncDisposableStack();
});

type Reconcile = (
  object: AnyObject,
  context: Pick<ObjectContext<Shape, Shape>, "causes" | "attempt" | "signal">,
) => Promise<void | Result>;

function map(name: string, version = 1, labels: Record<string, string> = {}): AnyObject {
  const metadata = { name, namespace: "ns", uid: `uid-${name}`, resourceVersion: String(version), labels };
  return { apiVersion: "v1", kind: "ConfigMap", metadata: { ...metadata, creationTimestamp: "" } };
}

/** A process whose server has these ConfigMaps. */
async function setUp(...names: readonly string[]) {
  const server = cleanup.use(await ScriptedServer.start());
  server.onList = () => ({
    body: listOf(
      names.map((name) => map(name)),
      "1",
    ),
  });
  const clock = new FakeClock();
  const transport = createTransport(server.config);
  cleanup.defer(() => transport.close());
  const log = createLog({ level: "debug", format: "json", write: () => {} });
  const metrics = createMetrics();
  const mapper = new RestMapper(transport);
  const informers = new InformerRegistry({ transport, mapper, log, clock });
  cleanup.defer(() => informers.stop());
  const runtime = {
    transport,
    mapper,
    informers,
    events: new EventRecorder({ transport, gate: alwaysLeader, clock, log, metrics, instance: "test" }),
    finalizers: new FinalizerClaims({ clock, log }),
    definedKinds: new DefinedKinds(),
    turns: new RunTurns(),
    leadership: alwaysLeader,
    clock,
    log,
    metrics,
    settings: runSettings(),
    warnUndeclared: false,
  };
  const start = (definition: AnyController, before?: RunningController): RunningController => {
    const started = startController(definition, runtime, { module: "m", invoke: (call) => call(), before });
    cleanup.defer(() => started.stop({ grace: 0 }));
    return started;
  };
  /** A version of the controller, and what it has run: each key with its causes and its attempt. */
  const version = (
    options: {
      readonly before?: RunningController;
      readonly reconcile?: Reconcile;
    } & Partial<AnyObjectController> = {},
  ) => {
    const { before, reconcile = async () => {}, ...more } = options;
    const runs: string[] = [];
    const definition = {
      name: "maps",
      for: ConfigMap,
      ...more,
      async reconcile(object: AnyObject, context: ObjectContext<Shape, Shape>) {
        runs.push(`${object.metadata.name} #${context.attempt} ${causesText(context.causes)}`);
        return reconcile(object, context);
      },
    } as unknown as AnyObjectController;
    return { runs, controller: start(definition, before) };
  };
  let next = 2;
  const change = async (name: string, labels?: Record<string, string>): Promise<void> => {
    await until(() => server.watches.length > 0);
    server.watch.send(["MODIFIED", map(name, next++, labels)]);
  };
  const idle = ({ queue, hasSynced }: RunningController) =>
    until(() => hasSynced && queue.depth === 0 && queue.processing === 0);
  return { server, clock, start, version, change, idle, informers, metrics, runtime };
}

test("a next version runs every key once more, without a list or a watch", async () => {
  const { version, idle, server } = await setUp("a", "b");
  const one = version();
  await until(() => one.runs.length === 2 && server.watchRequests === 1);
  const two = version({ before: one.controller });
  await one.controller.stop({ grace: 0 });
  await until(() => two.runs.length === 2);
  await idle(two.controller);
  expect(two.runs).toEqual(["a #1 reload", "b #1 reload"]);
  expect(one.runs).toHaveLength(2);
  expect([server.lists.length, server.watchRequests]).toEqual([1, 1]);
});

test("with onReload 'resume' keys that wait pass with their causes, and no other key runs", async () => {
  const { version, change, server, informers } = await setUp("a", "b", "c");
  const held = Promise.withResolvers<void>();
  const one = version({ concurrency: 1, reconcile: () => held.promise });
  await until(() => one.runs.length === 1);
  await change("b");
  await until(() => informers.all()[0]?.store.get("ns/b")?.metadata.resourceVersion === "2");
  const two = version({ before: one.controller, onReload: "resume" });
  held.resolve();
  await until(() => two.runs.length === 2);
  expect(two.runs.map((run) => run.slice(0, 4)).toSorted()).toEqual(["b #1", "c #1"]);
  expect(two.runs.find((run) => run.startsWith("b"))).toContain("update");
  expect(one.runs).toHaveLength(1);
  expect([server.lists.length, server.watchRequests]).toEqual([1, 1]);
});

test("a key whose run is under way waits for its end in the next version, and takes one of its workers", async () => {
  const { version } = await setUp("a", "b");
  const held = Promise.withResolvers<void>();
  const active: string[] = [];
  const reconcile: Reconcile = async ({ metadata: { name } }) => {
    expect(active).not.toContain(name);
    active.push(name);
    if (name === "a") await held.promise;
    active.splice(active.indexOf(name), 1);
  };
  const one = version({ concurrency: 2, reconcile });
  await until(() => one.runs.length === 2 && active.length === 1);
  const two = version({ concurrency: 2, reconcile, before: one.controller });
  const stopped = one.controller.stop({ grace: 60_000 });
  await until(() => two.runs.length === 1);
  expect(two.runs).toEqual(["b #1 reload"]);
  const three = version({ concurrency: 1, reconcile, before: two.controller });
  const stoppedToo = two.controller.stop({ grace: 60_000 });
  await until(() => three.controller.hasSynced && three.controller.queue.depth === 2);
  expect([three.runs, active]).toEqual([[], ["a"]]);
  held.resolve();
  await Promise.all([stopped, stoppedToo]);
  await until(() => three.runs.length === 2);
  expect(new Set(three.runs.map((run) => run[0]))).toEqual(new Set(["a", "b"]));
});

test("a run that does not end is fenced after the grace period, and then its key runs in the next version", async () => {
  const { version, clock } = await setUp("a");
  const one = version({ reconcile: () => new Promise(() => {}) });
  await until(() => one.runs.length === 1);
  const two = version({ before: one.controller, onReload: "resume" });
  const stopped = one.controller.stop({ grace: 1_000 });
  await clock.advanceInTurns(999);
  expect(two.runs).toEqual([]);
  await clock.advanceInTurns(101);
  await stopped;
  await until(() => two.runs.length === 1);
  expect(two.runs).toEqual(["a #1 for ConfigMap create ns/a"]);
});

test("a run that is cut short by its signal runs again in the next version, without a failure", async () => {
  const { version } = await setUp("a");
  const one = version({
    reconcile: (_, { signal }) =>
      new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason as Error))),
  });
  await until(() => one.runs.length === 1);
  const two = version({ before: one.controller, onReload: "resume" });
  await until(() => two.runs.length === 1);
  expect(two.runs).toEqual(["a #1 for ConfigMap create ns/a"]);
});

test("with onReload 'resume' delayed keys keep their times, failed ones their back-off and attempts, parked ones stay", async () => {
  const { version, clock, idle } = await setUp("delayed", "failed", "parked");
  const reconcile: Reconcile = async ({ metadata: { name } }) => {
    if (name === "delayed") return { requeueAfter: "10s" };
    throw name === "parked" ? new TerminalError("no") : new Error("fails");
  };
  const retry = { first: "4s" };
  const one = version({ reconcile, retry } as never);
  await until(() => one.runs.length === 3);
  await idle(one.controller);
  await clock.advanceInTurns(3_000);
  const two = version({ reconcile, retry, before: one.controller, onReload: "resume" } as never);
  await one.controller.stop({ grace: 0 });
  await clock.advanceInTurns(999);
  expect(two.runs).toEqual([]);
  await clock.advanceInTurns(1);
  await until(() => two.runs.length === 1);
  expect(two.runs).toEqual(["failed #2 retry"]);
  await idle(two.controller);
  await clock.advanceInTurns(6_000);
  await until(() => two.runs.length === 2);
  expect(two.runs[1]).toStartWith("delayed #1");
  expect([...two.controller.queue.parked.keys()]).toEqual(["ns/parked"]);
});

test("with onReload 'resume' objects run that a change of match made members", async () => {
  const { version, idle } = await setUp("a", "b");
  const one = version({ for: watch(ConfigMap, { match: ({ metadata }) => metadata.name === "a" }) as never });
  await until(() => one.runs.length === 1);
  await idle(one.controller);
  const two = version({
    before: one.controller,
    onReload: "resume",
    for: watch(ConfigMap, { match: () => true }),
  } as never);
  await until(() => two.runs.length === 1);
  expect(two.runs).toEqual(["b #1 reload"]);
});

test("a next version for another set of objects is told of all of them", async () => {
  const { version, idle, server } = await setUp("a");
  const one = version();
  await until(() => one.runs.length === 1);
  await idle(one.controller);
  const two = version({
    before: one.controller,
    onReload: "resume",
    for: watch(ConfigMap, { labels: "x=y" }),
  } as never);
  await until(() => two.runs.length === 1);
  expect([two.runs, server.lists.length]).toEqual([["a #1 for ConfigMap create ns/a"], 2]);
});

test("a key controller's next version asks its new enqueue of everything", async () => {
  const { start, idle } = await setUp("a", "b");
  const runs: string[] = [];
  const keyed = (prefix: string): KeyController => ({
    name: "keys",
    watches: [watch(ConfigMap, { enqueue: ({ metadata: { name } }) => [{ name: `${prefix}-${name}` }] })],
    reconcile: async ({ name }, { causes }) => void runs.push(`${name} ${causesText(causes)}`),
  });
  const one = start(keyed("old"));
  await until(() => runs.length === 2);
  await idle(one);
  const two = start(keyed("new"), one);
  await one.stop({ grace: 0 });
  await until(() => runs.length === 4);
  await idle(two);
  expect(runs.slice(2)).toEqual(["new-a reload", "new-b reload"]);
});

test("a key that an enqueue function works out during the reload runs in the next version", async () => {
  const { start, change, idle } = await setUp("a");
  const runs: string[] = [];
  let asked: PromiseWithResolvers<void> | undefined;
  const keyed = (): KeyController => ({
    name: "keys",
    onReload: "resume",
    watches: [
      watch(ConfigMap, {
        enqueue: async (object) => {
          await asked?.promise;
          return [object];
        },
      }),
    ],
    reconcile: async ({ name }) => void runs.push(name),
  });
  const one = start(keyed());
  await until(() => runs.length === 1);
  await idle(one);
  asked = Promise.withResolvers<void>();
  await change("a");
  await until(() => one.queue.processing === 0);
  await Bun.sleep(0);
  const two = start(keyed(), one);
  const stopped = one.stop({ grace: 60_000 });
  asked.resolve();
  await stopped;
  await until(() => runs.length === 2);
  await idle(two);
  expect(runs).toEqual(["a", "a"]);
});

test("source.every keeps its times over reloads that come more often", async () => {
  const { start, clock } = await setUp();
  const runs: number[] = [];
  const keyed: KeyController = {
    name: "keys",
    watches: [source.every("10s")],
    reconcile: async () => void runs.push(clock.now()),
  };
  const began = clock.now();
  let last = start(keyed);
  await until(() => last.hasSynced);
  for (let reload = 0; reload < 6; reload++) {
    await clock.advanceInTurns(4_000);
    const next = start(keyed, last);
    await last.stop({ grace: 0 });
    await until(() => next.hasSynced);
    last = next;
  }
  await until(() => runs.length === 2);
  expect(runs.map((at) => at - began)).toEqual([12_000, 20_000]);
});

test("source.every and source.cron keep a time that was due while the event loop was late", async () => {
  const { start, clock } = await setUp();
  const runs: string[] = [];
  const keyed = (): KeyController => ({
    name: "keys",
    onReload: "resume",
    watches: [source.every("60s"), source.cron("* * * * *")],
    reconcile: async (_, { causes }) => void runs.push(causesText(causes)),
  });
  const one = start(keyed());
  await until(() => one.hasSynced);
  const late = clock.now() + 60_003;
  clock.now = () => late; // no timer has fired yet
  const two = start(keyed(), one);
  await one.stop({ grace: 0 });
  await until(() => two.hasSynced && runs.length === 1);
  expect(runs).toEqual([expect.stringMatching(/every.*cron|cron.*every/)]);
});

test("a key that source.from yields during the reload runs in the next version", async () => {
  const { start } = await setUp();
  const runs: string[] = [];
  const asked = Promise.withResolvers<void>();
  const keyed = (answer: Promise<void>): KeyController => ({
    name: "keys",
    watches: [
      source.from(
        (async function* () {
          await answer;
          yield { name: "late" };
        })(),
      ),
    ],
    reconcile: async ({ name }) => void runs.push(name),
  });
  const one = start(keyed(asked.promise));
  await until(() => one.hasSynced);
  const two = start(keyed(new Promise(() => {})), one);
  await one.stop({ grace: 0 });
  asked.resolve();
  await until(() => two.hasSynced && runs.length === 1);
  expect(runs).toEqual(["late"]);
});

test("the loss of leadership cuts off runs of the version before, too", async () => {
  const { version, runtime } = await setUp("a");
  const listeners = new Set<(isLeader: boolean) => void>();
  runtime.leadership = {
    refused: undefined,
    isLeader: true,
    onChange(listener) {
      listeners.add(listener);
      return { [Symbol.dispose]: () => void listeners.delete(listener) };
    },
  } satisfies Leadership;
  const held = Promise.withResolvers<void>();
  const one = version({ reconcile: () => held.promise });
  await until(() => one.runs.length === 1);
  version({ before: one.controller });
  const stopped = one.controller.stop({ grace: 60_000 });
  expect(one.controller.stuck).toEqual([]);
  for (const listener of listeners) listener(false);
  expect(one.controller.stuck.map(({ key }) => key)).toEqual(["ns/a"]);
  held.resolve();
  await stopped;
});

test("counters of a controller go on, and queue and metrics leave with its last version", async () => {
  const { version, idle, metrics } = await setUp("a");
  let last = version();
  await until(() => last.runs.length === 1);
  for (let reload = 0; reload < 3; reload++) {
    const next = version({ before: last.controller });
    await last.controller.stop({ grace: 0 });
    await until(() => next.runs.length === 1);
    await idle(next.controller);
    last = next;
  }
  const text = (await metrics.text()).body;
  expect(text).toContain('controller_runtime_reconcile_total{controller="maps",result="success"} 4');
  expect(text).toContain('workqueue_adds_total{name="maps",controller="maps"} 4');
  await last.controller.stop({ grace: 0 });
  expect((await metrics.text()).body).not.toContain('"maps"');
});
