import { expect, test } from "bun:test";
import type { AnyObject } from "../resource/handle.ts";
import { Indexer } from "./store.ts";

function object(name: string, labels: Record<string, string>): AnyObject {
  const metadata = { name, uid: name, resourceVersion: "1", creationTimestamp: "", labels };
  return { apiVersion: "v1", kind: "ConfigMap", metadata };
}

const byApp = (one: AnyObject) => one.metadata.labels?.["app"];
const names = (objects: readonly AnyObject[]) => objects.map(({ metadata }) => metadata.name);

test("Indexer finds objects by value, and follows changes", () => {
  const indexer = new Indexer();
  indexer.set("a", object("a", { app: "x" }));
  indexer.addIndex("app", byApp);
  indexer.set("b", object("b", { app: "x" }));
  indexer.set("c", object("c", {}));
  expect(names(indexer.byIndex("app", "x"))).toEqual(["a", "b"]);
  indexer.set("a", object("a", { app: "y" }));
  expect(names(indexer.byIndex("app", "x"))).toEqual(["b"]);
  indexer.delete("b");
  expect(indexer.byIndex("app", "x")).toEqual([]);
  expect([...indexer.indexValues("app")]).toEqual(["y"]);
  indexer.clear();
  expect([...indexer.indexValues("app")]).toEqual([]);
});

test("Indexer takes several values of one object", () => {
  const indexer = new Indexer();
  indexer.addIndex("labels", (one) => Object.keys(one.metadata.labels ?? {}));
  indexer.set("a", object("a", { x: "1", y: "1" }));
  indexer.set("a", object("a", { y: "1", z: "1" }));
  expect([...indexer.indexValues("labels")]).toEqual(["y", "z"]);
});

test("Indexer refuses another function under a name, and names a missing index", () => {
  const indexer = new Indexer();
  indexer.addIndex("app", byApp);
  indexer.addIndex("app", byApp);
  expect(() => indexer.addIndex("app", () => "x")).toThrow('index "app"');
  indexer.removeIndex("app");
  expect(indexer.hasIndex("app")).toBe(false);
  expect(() => indexer.byIndex("app", "x")).toThrow('index "app"');
});

test("Indexer finds one, several and none under a value, as keys come and go", () => {
  const store = new Indexer();
  store.addIndex("app", ({ metadata }) => metadata.labels?.["app"]);
  const found = () => store.byIndex("app", "web").map(({ metadata }) => metadata.name);
  const put = (name: string, app?: string) => {
    const labels = app === undefined ? {} : { app };
    const metadata = { name, uid: name, resourceVersion: "1", creationTimestamp: "", labels };
    store.add({ apiVersion: "v1", kind: "Pod", metadata });
  };
  put("a", "web");
  put("a", "web");
  expect(found()).toEqual(["a"]);
  put("b", "web");
  put("c", "web");
  expect(found()).toEqual(["a", "b", "c"]);
  put("a", "db");
  store.delete("c");
  expect(found()).toEqual(["b"]);
  put("b");
  expect([found(), [...store.indexValues("app")]]).toEqual([[], ["db"]]);
});
