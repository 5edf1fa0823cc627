import { expect, test } from "bun:test";
import type { AnyObject } from "../resource/handle.ts";
import { type Portion, PortionSink } from "./portion.ts";
import type { ReflectorSink } from "./reflector-sink.ts";

function objectOf(
  name: string,
  more: { readonly uid?: string; readonly version?: string; readonly cell?: string } = {},
): AnyObject {
  const { uid = name, version = "1", cell = "ours" } = more;
  return {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name, uid, resourceVersion: version, creationTimestamp: "", labels: { cell } },
  };
}

function setUp(known: readonly AnyObject[] = []) {
  const told: string[] = [];
  const sink: ReflectorSink = {
    resourceVersion: "7",
    beginList: (reason) => told.push(`begin ${reason}`),
    page: (objects, version) => told.push(`page ${objects.map(({ metadata }) => metadata.name).join(",")} ${version}`),
    endList: (version) => told.push(`end ${version}`),
    event: (type, { metadata }) =>
      told.push(`${type} ${metadata.name} ${metadata.resourceVersion} ${metadata.labels?.["cell"]}`),
    flush: () => told.push("flush"),
    vanish: () => told.push("vanish"),
  };
  const portion: Portion = {
    id: "cell",
    isEmpty: false,
    has: ({ metadata }) => metadata.labels?.["cell"] === "ours",
    hasAll: () => false,
    shardSelector: undefined,
    labels: undefined,
    onChange: () => ({ [Symbol.dispose]: () => {} }),
  };
  const store = { get: (key: string) => known.find(({ metadata }) => metadata.name === key) };
  return { told, sink: new PortionSink(sink, { portion, store }) };
}

test("PortionSink lets through the objects of a list that belong to the portion", () => {
  const { told, sink } = setUp();
  sink.beginList("initial");
  sink.page([objectOf("a"), objectOf("b", { cell: "theirs" }), objectOf("c")], "5");
  sink.endList("5");
  expect(told).toEqual(["begin initial", "page a,c 5", "end 5"]);
  expect(sink.resourceVersion).toBe("7");
});

test("PortionSink takes from an event of others only how far the server has come", () => {
  const { told, sink } = setUp();
  sink.event("ADDED", objectOf("a", { version: "6" }));
  sink.event("MODIFIED", objectOf("b", { version: "7", cell: "theirs" }));
  sink.event("DELETED", objectOf("c", { version: "8", cell: "theirs" }));
  expect(told).toEqual(["ADDED a 6 ours", "BOOKMARK b 7 theirs", "BOOKMARK c 8 theirs"]);
});

test("PortionSink lets an object go that has left the portion, in the state that is known", () => {
  const { told, sink } = setUp([objectOf("a")]);
  sink.event("MODIFIED", objectOf("a", { version: "9", cell: "theirs" }));
  expect(told).toEqual(["DELETED a 9 ours"]);
});

test("PortionSink does not take another object of the name for the one that is known", () => {
  const { told, sink } = setUp([objectOf("a")]);
  sink.event("ADDED", objectOf("a", { uid: "other", version: "9", cell: "theirs" }));
  expect(told).toEqual(["BOOKMARK a 9 theirs"]);
});
