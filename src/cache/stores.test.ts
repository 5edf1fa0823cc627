import { expect, test } from "bun:test";
import type { AnyObject } from "../resource/handle.ts";
import { FakeClock } from "../testing/fake-clock.ts";
import { ExpirationStore } from "./expiration-store.ts";
import { Lister } from "./lister.ts";
import { Projection } from "./object-transformer.ts";
import { StoreSink } from "./reflector-sink.ts";
import { Indexer, Store } from "./store.ts";
import { UndeltaStore } from "./undelta-store.ts";

function object(
  name: string,
  more: { namespace?: string; labels?: Record<string, string>; version?: number } = {},
): AnyObject {
  const { namespace = "ns", labels, version = 1 } = more;
  const metadata = { name, namespace, labels, uid: name, resourceVersion: `${version}`, creationTimestamp: "" };
  return { apiVersion: "v1", kind: "Pod", metadata };
}

const names = (objects: Iterable<AnyObject>) => Array.from(objects, ({ metadata }) => metadata.name);

test("Store takes objects and keys, and a replacement leaves nothing else", () => {
  const store = new Store();
  store.add(object("a"));
  store.update(object("a", { version: 2 }));
  store.add(object("b"));
  expect(store.get("ns/a")!.metadata.resourceVersion).toBe("2");
  expect([store.delete("ns/b"), store.delete(object("b")), store.has("ns/b")]).toEqual([true, false, false]);
  store.replace([object("c"), object("d")], "9");
  expect([names(store.values()), [...store.keys()], store.resourceVersion]).toEqual([
    ["c", "d"],
    ["ns/c", "ns/d"],
    "9",
  ]);
  store.clear();
  expect([store.size, [...store.entries()]]).toEqual([0, []]);
});

test("Indexer keeps its indexes through a replacement, and takes an index when it is live", () => {
  const indexer = new Indexer();
  indexer.addIndex("app", ({ metadata }) => metadata.labels?.["app"]);
  indexer.add(object("a", { labels: { app: "x" } }));
  indexer.replace([object("b", { labels: { app: "x" } }), object("c", { labels: { app: "y" } })], "2");
  indexer.addIndex("name", ({ metadata }) => metadata.name);
  expect(names(indexer.byIndex("app", "x"))).toEqual(["b"]);
  expect(names(indexer.byIndex("name", "c"))).toEqual(["c"]);
  indexer.delete(object("c", { labels: { app: "y" } }));
  expect([...indexer.indexValues("app")]).toEqual(["x"]);
});

test("ExpirationStore shows no object after its time, and no timer is involved", () => {
  const clock = new FakeClock();
  const store = new ExpirationStore({ ttl: 1_000, clock });
  store.add(object("a"));
  clock.advance(600);
  store.update(object("b"));
  expect(names(store.values())).toEqual(["a", "b"]);
  clock.advance(400);
  expect([store.has("ns/a"), store.get("ns/a"), [...store.keys()]]).toEqual([false, undefined, ["ns/b"]]);
  store.set("ns/b", object("b"));
  clock.advance(999);
  expect(store.delete("ns/b")).toBe(true);
  store.replace([object("c")]);
  expect(names(store.values())).toEqual(["c"]);
  clock.advance(1_000);
  expect([store.delete(object("c")), store.size, clock.timers]).toEqual([false, 0, 0]);
  expect(() => new ExpirationStore({ ttl: 0 })).toThrow("ttl 0");
});

test("UndeltaStore pushes everything at each change, and once for a replacement", () => {
  const pushed: string[][] = [];
  const store = new UndeltaStore((objects) => void pushed.push(names(objects)));
  store.add(object("a"));
  store.update(object("b"));
  store.delete(object("c"));
  store.delete("ns/a");
  store.replace([object("d"), object("e")], "2");
  store.clear();
  expect(pushed).toEqual([["a"], ["a", "b"], ["b"], ["d", "e"], []]);
});

test("Lister reads by namespace and labels, and leaves stubs out", () => {
  const store = new Store();
  for (const one of [
    object("a", { labels: { app: "x" } }),
    object("b", { namespace: "other", labels: { app: "x" } }),
    object("c", { labels: { app: "y" } }),
    new Projection([{ bodies: () => false, managers: [] }]).take(object("d")),
  ])
    store.add(one);
  const lister = new Lister(store);
  expect(names(lister.list())).toEqual(["a", "b", "c"]);
  expect(names(lister.list({ namespace: "ns" }))).toEqual(["a", "c"]);
  expect(names(lister.list({ labels: "app in (x)" }))).toEqual(["a", "b"]);
  expect(names(lister.namespace("ns").list({ labels: { app: "x" } }))).toEqual(["a"]);
  expect(lister.get({ namespace: "ns", name: "a" })?.metadata.name).toBe("a");
  expect(lister.namespace("other").get("b")?.metadata.name).toBe("b");
  expect([
    lister.get({ namespace: "ns", name: "d" }),
    lister.namespace("ns").get({ namespace: "other", name: "b" }),
  ]).toEqual([undefined, undefined]);
});

test("StoreSink puts a list in place in one step, then follows events", () => {
  const store = new Store();
  store.add(object("old"));
  const sink = new StoreSink(store);
  sink.beginList();
  sink.page([object("a")]);
  expect(names(store.values())).toEqual(["old"]);
  sink.beginList();
  sink.page([object("a")]);
  sink.page([object("b")]);
  sink.endList("5");
  expect([names(store.values()), sink.resourceVersion]).toEqual([["a", "b"], "5"]);
  sink.event("ADDED", object("c", { version: 6 }));
  sink.event("MODIFIED", object("a", { version: 7 }));
  sink.event("DELETED", object("b", { version: 8 }));
  sink.event("BOOKMARK", object("", { version: 9 }));
  sink.flush();
  expect([names(store.values()), store.get("ns/a")!.metadata.resourceVersion, sink.resourceVersion]).toEqual([
    ["a", "c"],
    "7",
    "9",
  ]);
  sink.vanish();
  expect([store.size, sink.resourceVersion]).toEqual([0, ""]);
});
