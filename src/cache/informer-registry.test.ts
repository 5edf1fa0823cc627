import { afterEach, expect, test } from "bun:test";
import { listOf, ScriptedServer } from "../../tests/support/scripted-server.ts";
import { until } from "../../tests/support/until.ts";
import { RestMapper } from "../kube/api/mapper.ts";
import { createTransport } from "../kube/transport/transport.ts";
import { handle } from "../resource/handle.ts";
import { FakeClock } from "../testing/fake-clock.ts";
import { InformerRegistry } from "./informer-registry.ts";
import { isStub, type Needs } from "./object-transformer.ts";

const ConfigMap = handle({ apiVersion: "v1", kind: "ConfigMap", scope: "Namespaced", plural: "configmaps" });
const Secret = handle({ apiVersion: "v1", kind: "Secret", scope: "Namespaced", plural: "secrets" });
const needs: Needs = { bodies: "all", managers: [] };
let cleanup = new AsyncDisposableStack();
afterEach(async () => {
  await cleanup.disposeAsync();
  cleanup = new AsyncDisposableStack();
});

async function setUp() {
  const server = cleanup.use(await ScriptedServer.start());
  const transport = createTransport(server.config);
  cleanup.defer(() => transport.close());
  const clock = new FakeClock();
  const log = { debug() {}, info() {}, warn() {}, error() {} };
  const registry = new InformerRegistry({ transport, mapper: new RestMapper(transport), clock, log, random: () => 0 });
  cleanup.defer(() => registry.stop());
  return { server, clock, registry };
}

function object(version: number, namespace = "ns", labels: Record<string, string> = {}) {
  const metadata = { name: "a", namespace, uid: "u", resourceVersion: String(version), creationTimestamp: "", labels };
  return { apiVersion: "v1", kind: "ConfigMap", metadata };
}

test("one informer and one watch per set, whoever asks", async () => {
  const { server, registry } = await setUp();
  const first = registry.acquire(ConfigMap, { needs, user: "first" });
  const second = registry.acquire(handle({ ...ConfigMap }), { needs, user: "second", namespaces: [] });
  const labelled = registry.acquire(ConfigMap, { needs, user: "third", labels: "b=2,a=1", namespaces: ["y", "x"] });
  const sorted = registry.acquire(ConfigMap, { needs, user: "fourth", labels: "a=1, b=2", namespaces: ["x", "y"] });
  expect(second.informer).toBe(first.informer);
  expect(sorted.informer).toBe(labelled.informer);
  expect(registry.informersOf(ConfigMap)).toEqual([first.informer, labelled.informer]);
  expect(registry.informersOf(ConfigMap)).toBe(registry.informersOf({ group: "", kind: "ConfigMap" }));
  expect(registry.usersOf(first.informer)).toEqual(["first", "second"]);
  await until(() => server.watches.length === 3);
  expect(server.lists).toHaveLength(3);
});

test("CACHE-08 an unused informer lives on for a while, and stops when nobody comes back", async () => {
  const { server, clock, registry } = await setUp();
  const first = registry.acquire(ConfigMap, { needs, user: "first" });
  await until(() => server.watches.length === 1);
  first.release();
  first.release();
  clock.advance(9_999);
  const second = registry.acquire(ConfigMap, { needs, user: "second" });
  expect(second.informer).toBe(first.informer);
  clock.advance(60_000);
  expect(registry.all()).toHaveLength(1);
  second.release();
  clock.advance(10_000);
  expect(registry.all()).toEqual([]);
  expect(registry.informersOf(ConfigMap)).toEqual([]);
  await until(() => server.watch.closed);
  expect(registry.acquire(ConfigMap, { needs, user: "third" }).informer).not.toBe(first.informer);
});

test("what nobody needs any more is not kept of what comes after a while, and a reload costs no list", async () => {
  const { server, clock, registry } = await setUp();
  const stays = registry.acquire(ConfigMap, { needs: { bodies: () => false, managers: [] }, user: "stays" });
  const leaves = registry.acquire(ConfigMap, { needs, user: "leaves" });
  const other: Needs = { bodies: () => false, managers: ["other"] };
  const too = registry.acquire(ConfigMap, { needs: other, user: "leaves too" });
  await until(() => server.watches.length > 0 && stays.informer.hasSynced);
  const lists = server.lists.length;
  leaves.release();
  too.release();
  clock.advance(9_000);
  registry.acquire(ConfigMap, { needs: other, user: "back too" }).release();
  const back = registry.acquire(ConfigMap, { needs, user: "back" });
  clock.advance(60_000);
  server.watch.send(["ADDED", object(20)]);
  await until(() => stays.informer.store.size === 1);
  expect(isStub(stays.informer.store.get("ns/a")!)).toBe(false);
  expect(server.lists).toHaveLength(lists);
  back.release();
  clock.advance(10_000);
  server.watch.send(["ADDED", object(21, "other")]);
  await until(() => stays.informer.store.size === 2);
  expect(isStub(stays.informer.store.get("other/a")!)).toBe(true);
  stays.release();
  clock.advance(10_000);
  expect(registry.all()).toEqual([]);
});

test("at most four lists run at a time", async () => {
  const { server, registry } = await setUp();
  let release = (): void => {};
  const gate = new Promise<void>((resolve) => (release = resolve));
  server.onList = async () => {
    await gate;
    return { body: listOf([], "1") };
  };
  registry.acquire(ConfigMap, { needs, user: "many", namespaces: ["a", "b", "c", "d", "e", "f"] });
  await until(() => server.lists.length === 4);
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect(server.lists).toHaveLength(4);
  release();
  await until(() => server.watches.length === 6);
});

test("an answer goes into every informer of the kind whose set it belongs to, and events wait for it", async () => {
  const { server, registry } = await setUp();
  const lease = (labels?: string, namespaces?: string[]) =>
    registry.acquire(ConfigMap, { needs, user: "test", labels, namespaces }).informer;
  const all = lease();
  const web = lease("app=web");
  const other = lease(undefined, ["other"]);
  const secrets = registry.acquire(Secret, { needs, user: "test" }).informer;
  await until(() => server.watches.length === 4 && [all, web, other, secrets].every(({ hasSynced }) => hasSynced));
  const origins: (string | undefined)[] = [];
  all.addHandler(
    {
      onAdd: (_object, { origin }) => void origins.push(origin),
      onUpdate: (_object, _old, { origin }) => void origins.push(origin),
      onDelete() {},
    },
    { name: "test" },
  );
  registry.beginWrite(ConfigMap, "ns/a");
  registry.beginWrite(ConfigMap, "ns/a");
  for (const { request, send } of server.watches.map((watch) => ({
    request: watch.request,
    send: watch.send.bind(watch),
  }))) {
    if (request.path === "/api/v1/configmaps")
      send(["ADDED", object(11)], ["BOOKMARK", { ...object(12), metadata: { resourceVersion: "12" } }]);
  }
  await until(() => all.resourceVersion === "12" && web.resourceVersion === "12");
  expect(all.store.size).toBe(0);
  registry.endWrite(ConfigMap, "ns/a", { object: object(15, "ns", { app: "web" }), origin: "me" });
  expect([all, web, other, secrets].map(({ store }) => store.get("ns/a")?.metadata.resourceVersion)).toEqual([
    "15",
    "15",
    undefined,
    undefined,
  ]);
  expect(origins).toEqual(["me"]);
  registry.endWrite(ConfigMap, "ns/a", undefined);
  expect(origins).toEqual(["me", undefined]);
  registry.beginWrite(ConfigMap, "ns/a");
  registry.endWrite(ConfigMap, "ns/a", { deleted: { uid: "u" }, origin: "me" });
  expect([all.store.size, web.store.size]).toEqual([0, 0]);
});

test("a bad selector is refused, and nothing is watched after stop", async () => {
  const { registry, clock } = await setUp();
  expect(() => registry.acquire(ConfigMap, { needs, user: "x", labels: "a in" })).toThrow("a in");
  const lease = registry.acquire(ConfigMap, { needs, user: "x" });
  await registry.stop();
  expect(lease.informer.state.kind).toBe("stopped");
  expect(() => registry.acquire(ConfigMap, { needs, user: "x" })).toThrow("stopped");
  lease.release();
  expect(clock.timers).toBe(0);
});

test("100 informers whose connections are cut go on from their versions; when those are gone, four list at a time", async () => {
  const { server, clock, registry } = await setUp();
  const namespaces = Array.from({ length: 100 }, (_, index) => `n${index}`);
  registry.acquire(ConfigMap, { needs, user: "many", namespaces });
  await until(() => server.watches.length === 100);
  const open = (): number => server.watches.filter(({ closed }) => !closed).length;
  for (const watch of server.watches) watch.cut();
  await until(() => open() === 0);
  // The probe that finds the server again has a clock of its own.
  for (let turn = 0; turn < 400 && open() < 100; turn++) {
    await clock.advanceInTurns(100);
    await Bun.sleep(10);
  }
  await until(() => open() === 100);
  expect(server.lists).toHaveLength(100);

  let running = 0;
  let most = 0;
  server.onList = async () => {
    most = Math.max(most, ++running);
    await new Promise((resolve) => setTimeout(resolve, 1));
    running--;
    return { body: listOf([], "9") };
  };
  const gone = { kind: "Status", status: "Failure", code: 410, reason: "Expired", message: "too old" };
  for (const watch of server.watches.filter(({ closed }) => !closed)) watch.send(["ERROR", gone]);
  await until(() => server.lists.length === 200);
  await until(() => running === 0);
  expect(most).toBeLessThanOrEqual(4);
});

test("a transform changes what is kept of a kind: what was there is listed again, and once more a while after it has gone", async () => {
  const { server, clock, registry } = await setUp();
  server.onList = () => ({ body: listOf([{ ...object(1), data: { large: "yes", list: server.lists.length } }], "1") });
  const lease = registry.acquire(ConfigMap, { needs, user: "first" });
  type Data = { large?: string; readonly list?: number };
  const kept = () => (lease.informer.store.get("ns/a") as { readonly data?: Data } | undefined)?.data;
  const told: string[] = [];
  const handler = {
    onAdd: () => told.push("add"),
    onUpdate: () => told.push("update"),
    onDelete: () => told.push("delete"),
  };
  lease.informer.addHandler(handler, { name: "test" });
  await until(() => kept() !== undefined);
  const slim = (draft: object): void => void delete (draft as { data: Data }).data.large;
  registry.setTransform(ConfigMap, slim);
  await until(() => kept() !== undefined && kept()?.large === undefined);
  expect(lease.hasSynced).toBe(true);
  const lists = server.lists.length;
  // A reload: the next version's comes within the grace period, and costs one list.
  registry.setTransform(ConfigMap, undefined);
  clock.advance(9_000);
  registry.setTransform(ConfigMap, (draft) => slim(draft));
  await until(() => kept()?.list === lists + 1);
  clock.advance(10_000);
  registry.setTransform(ConfigMap, undefined);
  clock.advance(9_999);
  expect([kept(), server.lists.length]).toEqual([{ list: lists + 1 }, lists + 1]);
  clock.advance(1);
  await until(() => kept()?.large !== undefined);
  expect([server.lists.length, told]).toEqual([lists + 2, ["add"]]);
  registry.setTransform(Secret, slim); // of a kind that nobody watches yet
  server.onList = () => ({ body: listOf([{ ...object(3), kind: "Secret", data: { large: "yes" } }], "3") });
  const secrets = registry.acquire(Secret, { needs, user: "first" });
  await until(() => secrets.informer.store.size === 1);
  expect(secrets.informer.store.get("ns/a")).toMatchObject({ data: {} });
});
