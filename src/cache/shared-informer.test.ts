import { afterEach, describe, expect, test } from "bun:test";
import { listOf, refusal, ScriptedServer } from "../../tests/support/scripted-server.ts";
import { until } from "../../tests/support/until.ts";
import { RestMapper } from "../kube/api/mapper.ts";
import { createTransport } from "../kube/transport/transport.ts";
import { type AnyObject, handle } from "../resource/handle.ts";
import { FakeClock } from "../testing/fake-clock.ts";
import type { InformerHandler } from "./informer-handler.ts";
import { isStub } from "./object-transformer.ts";
import { SharedInformer, type SharedInformerOptions } from "./shared-informer.ts";

const ConfigMap = handle({ apiVersion: "v1", kind: "ConfigMap", scope: "Namespaced", plural: "configmaps" });
let cleanup = new AsyncDisposableStack();
afterEach(async () => {
  await cleanup.disposeAsync();
  cleanup = new AsyncDisposableStack();
});

function pod(name: string, version: number, more: { uid?: string; labels?: object; managedFields?: object[] } = {}) {
  const { uid = `uid-${name}`, labels, managedFields } = more;
  const metadata = { name, namespace: "ns", uid, resourceVersion: String(version), labels, managedFields };
  return { apiVersion: "v1", kind: "ConfigMap", metadata, data: { version: String(version) } };
}

interface Log {
  readonly level: string;
  readonly message: string;
  readonly fields: object | undefined;
}

async function setUp(options: Partial<SharedInformerOptions> & { systemTime?: boolean } = {}) {
  const server = cleanup.use(await ScriptedServer.start());
  const transport = createTransport(server.config);
  cleanup.defer(() => transport.close());
  const clock = new FakeClock();
  const logged: Log[] = [];
  const level = (name: string) => (message: string, fields?: object) =>
    void logged.push({ level: name, message, fields });
  const informer = new SharedInformer(ConfigMap, {
    transport,
    mapper: new RestMapper(transport),
    log: { debug: level("debug"), info: level("info"), warn: level("warn"), error: level("error") },
    random: () => 0,
    freeze: true,
    ...(options.systemTime ? {} : { clock }),
    ...options,
  });
  cleanup.defer(() => informer.stop());
  const told: string[] = [];
  const recorder: InformerHandler = {
    onAdd: (object, { isInInitialList }) => void told.push(`${isInInitialList ? "initial" : "add"} ${text(object)}`),
    onUpdate: (object, old) => void told.push(`update ${text(object)} from ${old.metadata.resourceVersion}`),
    onDelete: (object, { stateUnknown }) => void told.push(`delete ${text(object)}${stateUnknown ? " unknown" : ""}`),
  };
  const take = () => told.splice(0);
  /** Lists these and opens the watch. */
  const synced = async (objects: unknown[], version: number) => {
    server.onList = () => ({ body: listOf(objects, String(version)) });
    informer.start();
    await until(() => server.watches.length > 0 && informer.hasSynced);
    return server.watch;
  };
  return { server, clock, informer, recorder, take, told, logged, synced };
}

function text(object: AnyObject): string {
  return `${object.metadata.name}@${object.metadata.resourceVersion}`;
}

describe("SharedInformer", () => {
  test("lists, watches, and tells handlers with the store updated first", async () => {
    const { informer, recorder, take, synced } = await setUp();
    const seen: (string | undefined)[] = [];
    const store = (name: string) => informer.store.get(`ns/${name}`)?.metadata.resourceVersion;
    informer.addHandler(
      {
        onAdd: (object) => void seen.push(store(object.metadata.name)),
        onUpdate: (object) => void seen.push(store(object.metadata.name)),
        onDelete: (object) => void seen.push(store(object.metadata.name)),
      },
      { name: "store" },
    );
    informer.addHandler(recorder, { name: "recorder" });
    const watch = await synced([pod("a", 1), pod("b", 2)], 10);
    expect(take()).toEqual(["initial a@1", "initial b@2"]);
    watch.send(["ADDED", pod("c", 11)], ["MODIFIED", pod("a", 12)], ["DELETED", pod("b", 13)]);
    await until(() => informer.store.resourceVersion === "13");
    expect(take()).toEqual(["add c@11", "update a@12 from 1", "delete b@13"]);
    expect(seen).toEqual(["1", "2", "11", "12", undefined]);
    expect(informer.state.kind).toBe("watching");
    expect(Object.isFrozen(informer.store.get("ns/a")?.metadata)).toBe(true);
  });

  test("REFL-01 a consistent list first, without a version (upstream asks for 0), then a watch from the list's", async () => {
    const { server, synced } = await setUp();
    const { request } = await synced([], 10);
    const [list] = server.lists;
    expect([...list!.query]).toEqual([["limit", "500"]]);
    expect(request.path).toBe("/api/v1/configmaps");
    expect(Object.fromEntries(request.query)).toEqual({
      watch: "true",
      allowWatchBookmarks: "true",
      resourceVersion: "10",
      timeoutSeconds: "180",
    });
  });

  test("REFL-05 lists in pages", async () => {
    const { server, informer } = await setUp({ pageSize: 4 });
    server.onList = ({ query }) => {
      const page = Number(query.get("continue")?.slice(1) ?? 0);
      const items = Array.from({ length: page < 2 ? 4 : 2 }, (_, i) => pod(`p${page * 4 + i}`, 1));
      return { body: listOf(items, "10", page < 2 ? `C${page + 1}` : undefined) };
    };
    informer.start();
    await until(() => informer.hasSynced);
    expect(server.lists.map(({ query }) => [query.get("limit"), query.get("continue")])).toEqual([
      ["4", null],
      ["4", "C1"],
      ["4", "C2"],
    ]);
    expect(informer.store.size).toBe(10);
  });

  test("REFL-02 lists again when the version is gone, by event or by answer, and tells what changed", async () => {
    const { server, informer, recorder, take, synced, clock } = await setUp();
    informer.addHandler(recorder, { name: "recorder" });
    const watch = await synced([pod("a", 1), pod("b", 2), pod("c", 3, { uid: "old" })], 10);
    take();
    server.onList = () => ({
      body: listOf([pod("a", 1), pod("b", 12), pod("c", 13, { uid: "new" }), pod("d", 14)], "20"),
    });
    watch.send(["ERROR", refusal(410, "Expired", "too old resource version").body]);
    await until(() => server.watches.length === 2);
    expect(take()).toEqual(["update b@12 from 2", "delete c@3 unknown", "add c@13", "add d@14"]);
    expect(server.watch.request.query.get("resourceVersion")).toBe("20");
    expect(informer.relists).toEqual({ gone: 1 });
    server.onWatch = () => refusal(410, "Gone", "gone");
    server.onList = () => ({ body: listOf([], "30") });
    server.watch.end();
    await until(() => server.watchRequests === 3 && clock.timers > 0);
    server.onWatch = () => undefined;
    clock.advance(800);
    await until(() => server.watches.length === 3);
    expect(take()).toEqual(["delete a@1 unknown", "delete b@12 unknown", "delete c@13 unknown", "delete d@14 unknown"]);
    expect(informer.hasSynced).toBe(true);
  });

  test("REFL-04 lists again when the version is from the future", async () => {
    const { server, synced } = await setUp();
    const watch = await synced([], 10);
    server.onWatch = ({ query }) =>
      query.get("resourceVersion") === "20"
        ? refusal(504, "Timeout", "Too large resource version: 20, current: 15")
        : undefined;
    watch.send(["BOOKMARK", pod("", 20)]);
    watch.end();
    await until(() => server.watches.length === 2);
    expect(server.lists).toHaveLength(2);
    expect(server.lists[1]!.query.get("resourceVersion")).toBeNull();
  });

  test("REFL-08 keeps its version when the server is busy, and waits as long as it is told", async () => {
    const { server, clock, informer, synced } = await setUp();
    const watch = await synced([], 10);
    server.onWatch = () => ({ ...refusal(429, "TooManyRequests", "busy"), headers: { "retry-after": "1" } });
    watch.end();
    for (let i = 2; i <= 5; i++) {
      await until(() => server.watchRequests === i && clock.timers === 1);
      expect(informer.state).toMatchObject({ kind: "unavailable", code: 429 });
      if (i === 5) server.onWatch = () => undefined;
      clock.advance(999);
      expect(clock.timers).toBe(1);
      clock.advance(1);
    }
    await until(() => server.watches.length === 2);
    expect(server.watch.request.query.get("resourceVersion")).toBe("10");
    expect(server.lists).toHaveLength(1);
    await until(() => informer.state.kind === "watching");
  });

  test("REFL-13 STORE-04 the version follows every event and bookmark, and a bookmark changes no object", async () => {
    const { server, informer, synced } = await setUp();
    const watch = await synced([], 10);
    const events = [
      ["ADDED", pod("a", 11)],
      ["MODIFIED", pod("a", 20)],
      ["BOOKMARK", pod("", 30)],
      ["DELETED", pod("a", 40)],
    ] as const;
    const versions: string[] = [];
    for (const [type, object] of events) {
      watch.send([type, object]);
      await until(() => informer.resourceVersion === object.metadata.resourceVersion);
      versions.push(informer.store.resourceVersion);
      if (type === "BOOKMARK") expect(informer.store.get("ns/a")?.metadata.resourceVersion).toBe("20");
    }
    expect(versions).toEqual(["11", "20", "30", "40"]);
    watch.end();
    await until(() => server.watches.length === 2);
    expect(server.watch.request.query.get("resourceVersion")).toBe("40");
    expect(server.lists).toHaveLength(1);
  });

  test.each(["pages", "metadata", "stream"] as const)(
    "REFL-15 an event of another kind is not stored, moves no version, and is logged once: %s",
    async (way) => {
      const { server, informer, recorder, take, logged } = await setUp({
        ...(way === "metadata" && { keep: [] }),
        ...(way === "stream" && { list: "stream" as const }),
      });
      informer.addHandler(recorder, { name: "recorder" });
      server.onList = () => ({ body: listOf([], "10") });
      informer.start();
      await until(() => server.watches.length === 1);
      const { watch } = server;
      if (way === "stream") {
        const annotations = { "k8s.io/initial-events-end": "true" };
        watch.send(["BOOKMARK", { ...pod("", 10), metadata: { ...pod("", 10).metadata, annotations } }]);
      }
      await until(() => informer.hasSynced);
      const secret = { ...pod("other", 11), kind: "Secret" };
      const beta = { ...pod("other", 12), apiVersion: "v1beta1" };
      const status = { kind: "Status", apiVersion: "v1", metadata: {}, code: 200 };
      watch.send(["ADDED", secret], ["MODIFIED", secret], ["ADDED", beta], ["MODIFIED", status], ["DELETED", status]);
      const partial = { kind: "PartialObjectMetadata", apiVersion: "meta.k8s.io/v1" };
      watch.send(["ADDED", { ...pod("a", 9), ...(way === "metadata" ? partial : {}) }]);
      await until(() => informer.store.size > 0);
      expect([[...informer.store.keys()], take(), informer.resourceVersion]).toEqual([["ns/a"], ["add a@9"], "9"]);
      expect(informer.store.get("ns/a")?.kind).toBe("ConfigMap");
      const told = logged.filter(({ level }) => level === "warn").map(({ fields }) => fields);
      expect(told).toEqual([
        { informer: informer.id, apiVersion: "v1", kind: "Secret" },
        { informer: informer.id, apiVersion: "v1beta1", kind: "ConfigMap" },
        { informer: informer.id, apiVersion: "v1", kind: "Status" },
      ]);
    },
  );

  test("REFL-14 lists again after three watches that were closed at once, then backs off", async () => {
    const { server, clock, informer } = await setUp();
    let opened = 0;
    server.onWatch = () => {
      opened++;
      queueMicrotask(() => server.watch.end());
      return undefined;
    };
    informer.start();
    await until(() => opened === 4 && clock.timers === 1);
    expect(informer.relists).toEqual({ closed: 1 });
    expect(informer.state.kind).toBe("unavailable");
    server.onWatch = () => undefined;
    clock.advance(400);
    await until(() => informer.state.kind === "watching");
    expect(informer.relists).toEqual({ closed: 2 });
  });

  test("REFL-16 stops while it watches, lists no more, and closes the watch", async () => {
    const { server, informer, clock, synced } = await setUp();
    const watch = await synced([], 10);
    await informer.stop();
    await until(() => watch.closed);
    expect(server.lists).toHaveLength(1);
    expect(informer.state.kind).toBe("stopped");
    expect(clock.timers).toBe(0);
    expect(() => informer.addHandler({ onAdd() {}, onUpdate() {}, onDelete() {} }, { name: "late" })).toThrow(
      "stopped",
    );
  });

  test("goes on where it was when the connection is cut", async () => {
    const { server, informer, clock, synced } = await setUp();
    const watch = await synced([], 10);
    watch.send(["BOOKMARK", pod("", 15)]);
    await until(() => informer.resourceVersion === "15");
    watch.cut();
    await until(() => clock.timers === 1);
    expect(informer.state.kind).toBe("unavailable");
    clock.advance(500);
    await until(() => server.watches.length === 2);
    expect(server.watch.request.query.get("resourceVersion")).toBe("15");
    expect(server.lists).toHaveLength(1);
  });

  test("INF-08 shows a refusal, and recovers by itself", async () => {
    const { server, informer, clock, logged } = await setUp();
    server.onList = () => refusal(403, "Forbidden", "Access Denied");
    informer.start();
    let delay = 400;
    for (let i = 1; i <= 8; i++) {
      await until(() => server.lists.length === i && clock.timers === 1);
      expect(informer.state).toMatchObject({ kind: "unavailable", code: 403 });
      if (i === 8) server.onList = () => ({ body: listOf([], "1") });
      clock.advance(delay - 1);
      expect(clock.timers).toBe(1);
      clock.advance(1);
      delay = Math.min(15_000, delay * 2);
    }
    expect(logged.find(({ level }) => level === "warn")?.fields).toMatchObject({
      message: expect.stringContaining("Access Denied"),
    });
    await until(() => informer.hasSynced);
  });

  test("waits for a kind that does not exist, and empties itself when it goes", async () => {
    const { server, informer, clock, recorder, take, logged } = await setUp();
    informer.addHandler(recorder, { name: "recorder" });
    const changes: string[] = [];
    informer.onChange(() => void changes.push(`${informer.state.kind} ${informer.hasSynced}`));
    server.onList = () => refusal(404, "NotFound", "the server could not find the requested resource");
    informer.start();
    await until(() => server.lists.length === 1 && clock.timers === 1);
    expect(informer.state.kind).toBe("waiting");
    clock.advance(1000);
    await until(() => server.lists.length === 2 && clock.timers === 1);
    server.onList = () => ({ body: listOf([pod("a", 1)], "5") });
    clock.advance(1500);
    await until(() => informer.state.kind === "watching");
    expect(take()).toEqual(["initial a@1"]);
    server.onWatch = () => refusal(404, "NotFound", "gone");
    server.watch.end();
    await until(() => clock.timers === 1);
    expect(take()).toEqual(["delete a@1 unknown"]);
    expect([informer.store.size, informer.hasSynced, informer.state.kind]).toEqual([0, false, "waiting"]);
    server.onWatch = () => undefined;
    clock.advance(1000);
    await until(() => informer.state.kind === "watching");
    expect(take()).toEqual(["initial a@1"]);
    expect(changes).toEqual([
      "listing false",
      "waiting false",
      "listing false",
      "waiting false",
      "listing false",
      "listing true",
      "watching true",
      "watching false",
      "waiting false",
      "listing false",
      "listing true",
      "watching true",
    ]);
    // Each new try is not news.
    expect(logged.filter(({ level }) => level === "info").map(({ message }) => message)).toEqual([
      "Waiting for a kind to appear",
      "Watching again",
      "Waiting for a kind to appear",
      "Watching again",
    ]);
  });

  test("keeps one reflector per namespace, and is synced when all are", async () => {
    const { server, informer } = await setUp({ namespaces: ["b", "a", "a"] });
    let release = (): void => {};
    const gate = new Promise<void>((resolve) => (release = resolve));
    server.onList = async ({ path }) => {
      if (path.includes("/b/")) await gate;
      return { body: listOf([], "5") };
    };
    informer.start();
    await until(() => server.watches.length === 1);
    expect([informer.hasSynced, informer.state.kind]).toEqual([false, "listing"]);
    release();
    await until(() => server.watches.length === 2);
    expect(informer.hasSynced).toBe(true);
    expect(informer.namespaces).toEqual(["a", "b"]);
    expect(server.lists.map(({ path }) => path).sort()).toEqual([
      "/api/v1/namespaces/a/configmaps",
      "/api/v1/namespaces/b/configmaps",
    ]);
    expect(informer.covers(pod("x", 1) as never)).toBe(false);
  });

  test("namespaces that come and go: one that comes makes nobody wait, one that goes takes its objects out", async () => {
    const { server, informer, recorder, take } = await setUp({ namespaceLabels: "team=a" });
    const answer = Promise.withResolvers<void>();
    const inside = (namespace: string) => ({ ...pod("a", 1), metadata: { ...pod("a", 1).metadata, namespace } });
    server.onList = async ({ path }) => {
      const [, namespace = ""] = /namespaces\/([^/]+)/.exec(path)!;
      if (namespace === "late") await answer.promise;
      return { body: listOf([inside(namespace)], "5") };
    };
    informer.addHandler(recorder, { name: "recorder" });
    informer.start();
    informer.addNamespace("early");
    await until(() => informer.sees("early"));
    expect(informer.hasSynced).toBe(false); // there may be more
    informer.setSelection({ kind: "watching" }, true);
    expect([informer.hasSynced, informer.sees(undefined), informer.namespaces]).toEqual([true, false, ["early"]]);
    informer.addNamespace("late");
    informer.addNamespace("late");
    await until(() => server.lists.length === 2);
    expect([informer.hasSynced, informer.sees("late"), informer.covers(inside("late") as never)]).toEqual([
      true,
      false,
      true,
    ]);
    answer.resolve();
    await until(() => informer.sees("late"));
    expect([...informer.store.keys()]).toEqual(["early/a", "late/a"]);
    take();
    informer.removeNamespace("early");
    informer.endWrite("early/a", { object: inside("early") as never, origin: "" }, true);
    expect([take(), [...informer.store.keys()]]).toEqual([["delete a@1 unknown"], ["late/a"]]);
    expect([informer.namespaces, informer.hasSynced, informer.id]).toEqual([["late"], true, "v1/ConfigMap?{team=a}"]);
  });

  test("a namespace that goes leaves the version of those that stay", async () => {
    const { server, informer } = await setUp({ namespaceLabels: "team=a" });
    server.onList = () => ({ body: listOf([], "5") });
    informer.start();
    informer.addNamespace("stays");
    informer.addNamespace("goes");
    informer.setSelection({ kind: "watching" }, true);
    await until(() => server.watches.length === 2 && informer.state.kind === "watching");
    expect(informer.resourceVersion).toBe("5");
    informer.removeNamespace("goes");
    await new Promise((resolve) => setTimeout(resolve, 20)); // its watch ends behind it
    expect([informer.resourceVersion, informer.state.kind]).toEqual(["5", "watching"]);
  });

  test("keeps bodies and managed fields that somebody needs, and lists again when more is needed", async () => {
    const { server, informer, recorder, take } = await setUp();
    const managedFields = [{ manager: "mine" }, { manager: "kubectl" }];
    const objects = () => [pod("a", 1, { labels: { app: "x" }, managedFields }), pod("b", 2, { managedFields })];
    const isX = (object: AnyObject) => object.metadata.labels?.["app"] === "x";
    informer.setNeeds([{ bodies: isX, managers: ["mine"] }]);
    server.onList = () => ({ body: listOf(objects(), "10") });
    informer.addHandler(recorder, { name: "recorder" });
    informer.start();
    await until(() => server.watches.length === 1);
    expect(informer.store.get("ns/a")?.metadata.managedFields).toEqual([{ manager: "mine" }]);
    expect(isStub(informer.store.get("ns/b")!)).toBe(true);
    expect(informer.store.get("ns/b")).not.toHaveProperty("data");
    expect(take()).toEqual(["initial a@1"]);
    informer.setNeeds([{ bodies: "all", managers: ["mine"] }]);
    await until(() => server.watches.length === 2);
    expect(informer.store.get("ns/b")).toHaveProperty("data");
    expect(take()).toEqual(["initial b@2"]);
    informer.setNeeds([{ bodies: isX, managers: [] }]);
    expect(informer.relists).toEqual({ needs: 1 });
    expect(informer.bytes).toBeGreaterThan(100);
  });

  test("what is needed more while the first page is under way comes whole", async () => {
    const { server, informer } = await setUp();
    const first = Promise.withResolvers<void>();
    informer.setNeeds([{ bodies: () => false, managers: [] }]);
    const metadataOnly = ({ metadata }: ReturnType<typeof pod>) => ({ metadata });
    server.onList = async ({ accept }) => {
      if (!accept.includes("PartialObjectMetadataList")) return { body: listOf([pod("a", 1)], "10") };
      await first.promise;
      const list = listOf([metadataOnly(pod("a", 1))], "10");
      return { body: { ...list, apiVersion: "meta.k8s.io/v1", kind: "PartialObjectMetadataList" } };
    };
    informer.start();
    await until(() => server.lists.length === 1);
    informer.setNeeds([{ bodies: "all", managers: [] }]);
    first.resolve();
    await until(() => informer.hasSynced);
    expect(informer.store.get("ns/a")).toHaveProperty("data");
    expect(server.lists).toHaveLength(2);
  });

  test("what is needed more before the first page of a later list comes whole", async () => {
    const { server, informer, synced } = await setUp();
    const first = Promise.withResolvers<void>();
    informer.setNeeds([{ bodies: () => false, managers: [] }]);
    const watch = await synced([pod("a", 1)], 10);
    expect(isStub(informer.store.get("ns/a")!)).toBe(true);
    server.onList = async () => {
      await first.promise;
      return { body: listOf([pod("a", 1)], "20") };
    };
    watch.send(["ERROR", refusal(410, "Expired", "too old resource version").body]);
    await until(() => server.lists.length === 2);
    informer.setNeeds([{ bodies: "all", managers: [] }]);
    first.resolve();
    await until(() => server.watches.length === 2);
    expect(informer.store.get("ns/a")).toHaveProperty("data");
  });

  test("keeps an object as it came when its transform throws, and lists once", async () => {
    const transform = (object: AnyObject): AnyObject => {
      if (object.metadata.name !== "a") throw new Error("not this one");
      return { ...object, metadata: { ...object.metadata, labels: { seen: "yes" } } };
    };
    const { server, informer, logged, synced } = await setUp({ transform });
    const watch = await synced([pod("a", 1), pod("b", 2)], 5);
    watch.send(["ADDED", pod("c", 6)]);
    await until(() => informer.store.size === 3);
    expect(informer.store.get("ns/a")?.metadata.labels).toEqual({ seen: "yes" });
    expect([server.lists.length, informer.failures.transforms, informer.state.kind]).toEqual([1, 2, "watching"]);
    expect(logged.filter(({ level }) => level === "error")).toHaveLength(1);
  });

  test("says once that it waits for a kind, in whatever words the server says so", async () => {
    const { server, clock, informer, logged, synced } = await setUp();
    const watch = await synced([pod("a", 1)], 5);
    const asked = { times: 0 };
    server.onWatch = server.onList = () => refusal(404, "NotFound", `not found, ${asked.times++}`);
    watch.end();
    await until(() => informer.state.kind === "waiting");
    while (asked.times < 4) await clock.advanceInTurns(200);
    expect(logged.filter(({ message }) => message.startsWith("Waiting")).length).toBe(1);
  });

  test("CACHE-07 a wait for the first list ends with the signal's reason, or with the list", async () => {
    const { server, informer } = await setUp();
    const answer = Promise.withResolvers<void>();
    server.onList = async () => {
      await answer.promise;
      return { body: listOf([pod("a", 1)], "5") };
    };
    informer.start();
    const enough = new AbortController();
    const waiting = informer.synced(enough.signal);
    enough.abort(new Error("enough"));
    await expect(waiting).rejects.toThrow("enough");
    answer.resolve();
    await informer.synced();
    expect(informer.store.size).toBe(1);
  });

  test("STORE-01 a list gives deletions first, then updates and additions", async () => {
    const { server, informer, recorder, take, synced } = await setUp();
    informer.addHandler(recorder, { name: "recorder" });
    const watch = await synced([pod("pod-1", 1), pod("pod-2", 2), pod("pod-3", 3)], 3);
    take();
    server.onList = () => ({ body: listOf([pod("pod-1", 4), pod("pod-2", 5), pod("pod-4", 6)], "6") });
    watch.send(["ERROR", refusal(410, "Expired", "too old").body]);
    await until(() => server.watches.length === 2);
    expect(take()).toEqual(["delete pod-3@3 unknown", "update pod-1@4 from 1", "update pod-2@5 from 2", "add pod-4@6"]);
  });

  test("STORE-02 a list of nothing deletes each known object", async () => {
    const { server, informer, recorder, take, synced } = await setUp();
    informer.addHandler(recorder, { name: "test" });
    const watch = await synced([pod("a", 1), pod("b", 2)], 2);
    take();
    server.onList = () => ({ body: listOf([], "9") });
    watch.send(["ERROR", refusal(410, "Expired", "too old").body]);
    await until(() => informer.resourceVersion === "9");
    expect([take().sort(), informer.store.size]).toEqual([["delete a@1 unknown", "delete b@2 unknown"], 0]);
  });

  test("REFL-11 a watch that fails again and again goes on from its version, and lists nothing", async () => {
    const { server, clock, informer, synced } = await setUp();
    const watch = await synced([pod("a", 1)], 5);
    server.onWatch = () => refusal(500, "InternalError", "etcd is slow");
    watch.end();
    for (let attempts = 2; attempts <= 6; attempts++) {
      await until(() => server.watchRequests === attempts && informer.state.kind === "unavailable");
      while (server.watchRequests === attempts) await clock.advanceInTurns(200);
    }
    expect([server.lists.length, informer.hasSynced, informer.store.size]).toEqual([1, true, 1]);
  });

  test("lists again every now and then, and counts what it had missed", async () => {
    const { server, clock, informer, recorder, take, synced } = await setUp({ checkEvery: 3_600_000 });
    informer.addHandler(recorder, { name: "test" });
    const watch = await synced([pod("a", 1), pod("b", 2)], 5);
    watch.send(["BOOKMARK", pod("", 10)]);
    await until(() => informer.resourceVersion === "10");
    take();
    // One change is new; the other one should have been told before the bookmark.
    server.onList = () => ({ body: listOf([pod("a", 7), pod("b", 12)], "12") });
    await clock.advanceInTurns(3_240_000);
    await until(() => server.watches.length === 2);
    expect(take()).toEqual(["update a@7 from 1", "update b@12 from 2"]);
    expect([informer.differences, informer.relists]).toEqual([1, { check: 1 }]);
  });

  test("INF-02 each handler keeps its own period, whichever came first", async () => {
    const { clock, informer, synced } = await setUp();
    const counts = [0, 0, 0, 0];
    for (const [index, resync] of [0, 60_000, 55_000, 5_000].entries()) {
      informer.addHandler(
        { onAdd: () => {}, onUpdate: () => void counts[index]!++, onDelete: () => {} },
        { name: `h${index}`, resync },
      );
    }
    await synced([pod("a", 1)], 1);
    clock.advance(60_000);
    expect(counts).toEqual([0, 1, 1, 12]);
  });

  test("takes older versions when the server's history went back", async () => {
    const { server, informer, synced } = await setUp();
    const watch = await synced([pod("a", 100), pod("b", 101)], 110);
    server.onList = () => ({ body: listOf([pod("a", 50)], "60") });
    watch.send(["ERROR", refusal(410, "Expired", "too old").body]);
    await until(() => server.watches.length === 2);
    expect([...informer.store.values()].map(text)).toEqual(["a@50"]);
    expect(informer.resourceVersion).toBe("60");
  });

  test("INF-01 resyncs each handler in its own time", async () => {
    const { informer, clock, synced } = await setUp();
    const calls: string[] = [];
    for (const resync of [0, 2000, 3000]) {
      informer.addHandler(
        {
          onAdd() {},
          onUpdate: (object, old) => void (object === old && calls.push(`${resync} ${object.metadata.name}`)),
          onDelete() {},
        },
        { name: `resync ${resync}`, resync },
      );
    }
    await synced([pod("a", 1), pod("b", 2)], 10);
    clock.advance(2000);
    expect(calls.splice(0)).toEqual(["2000 a", "2000 b"]);
    clock.advance(1000);
    expect(calls.splice(0)).toEqual(["3000 a", "3000 b"]);
    await informer.stop();
    expect(clock.timers).toBe(0);
  });

  test("INF-04 tells a handler nothing more once it is removed, also twice", async () => {
    const { informer, recorder, take, synced } = await setUp();
    const registration = informer.addHandler(recorder, { name: "recorder" });
    const watch = await synced([], 10);
    registration[Symbol.dispose]();
    registration[Symbol.dispose]();
    watch.send(["ADDED", pod("a", 11)]);
    await until(() => informer.store.size === 1);
    expect(take()).toEqual([]);
  });

  test("INF-05 tells a late handler of what is there, then of events", async () => {
    const { informer, recorder, take, synced } = await setUp();
    const early = informer.addHandler(recorder, { name: "early" });
    expect(early.hasSynced).toBe(false);
    const watch = await synced([pod("a", 1), pod("b", 2)], 10);
    take();
    const late = informer.addHandler(recorder, { name: "late" });
    expect([early.hasSynced, late.hasSynced]).toEqual([true, true]);
    expect(take()).toEqual(["initial a@1", "initial b@2"]);
    early[Symbol.dispose]();
    watch.send(["ADDED", pod("c", 11)]);
    await until(() => informer.store.size === 3);
    expect(take()).toEqual(["add c@11"]);
  });

  test("INF-07 a handler that throws stops nobody", async () => {
    const { informer, recorder, take, logged, synced } = await setUp();
    let calls = 0;
    const fail = (): never => {
      calls++;
      throw new Error("broken");
    };
    informer.addHandler({ onAdd: fail, onUpdate: fail, onDelete: fail }, { name: "broken" });
    informer.addHandler(recorder, { name: "recorder" });
    await synced(
      Array.from({ length: 5 }, (_, i) => pod(`p${i}`, i)),
      10,
    );
    expect([calls, informer.failures.handlers, take().length, informer.hasSynced]).toEqual([5, 5, 5, true]);
    expect(logged.filter(({ level }) => level === "error")[0]?.fields).toMatchObject({ handler: "broken" });
  });
});
