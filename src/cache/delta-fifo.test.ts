import { expect, test } from "bun:test";
import type { AnyObject } from "../resource/handle.ts";
import { DeltaFifo, type ListMark } from "./delta-fifo.ts";

function object(name: string, version: number): AnyObject {
  const metadata = { name, uid: name, resourceVersion: String(version), creationTimestamp: "" };
  return { apiVersion: "v1", kind: "ConfigMap", metadata };
}

const list: ListMark = { resourceVersion: "100", sequence: 1 };

function setUp(known: readonly AnyObject[] = [], options: { transform?: (one: AnyObject) => AnyObject } = {}) {
  const objects = new Map(known.map((one) => [one.metadata.name, one]));
  const held = new Set<string>();
  const fifo = new DeltaFifo({ known: objects, held, ...options });
  const drained = () => {
    const out: string[] = [];
    fifo.drain((key, { type, object: { metadata } }) => void out.push(`${type} ${key}@${metadata.resourceVersion}`));
    return out;
  };
  return { fifo, held, drained };
}

test("FIFO-01 a creation after a queued deletion is not lost", () => {
  const { fifo, drained } = setUp([object("foo", 1)]);
  fifo.delete(object("foo", 1));
  fifo.replace([object("foo", 2)], list);
  expect(drained()).toEqual(["Deleted foo@1", "Replaced foo@2"]);
});

test("FIFO-02 a list deletes what is only queued", () => {
  const { fifo, drained } = setUp();
  fifo.add(object("foo", 1));
  fifo.replace([], list);
  expect(drained()).toEqual(["Added foo@1", "Deleted foo@1"]);
});

test("FIFO-03 a list deletes what is known, with its last known state", () => {
  const { fifo, drained } = setUp([object("foo", 5), object("bar", 6)]);
  fifo.update(object("foo", 7));
  fifo.replace([object("bar", 8)], list);
  expect(drained()).toEqual(["Updated foo@7", "Deleted foo@7", "Replaced bar@8"]);
});

test("FIFO-04 deletes once, however often it is told", () => {
  const { fifo, drained } = setUp();
  fifo.add(object("foo", 1));
  fifo.replace([], list);
  fifo.replace([], list);
  fifo.delete(object("foo", 2));
  expect(drained()).toEqual(["Added foo@1", "Deleted foo@1"]);
});

test("FIFO-05 transforms each object once, and neither last known states nor resyncs", () => {
  const seen: string[] = [];
  const transform = (one: AnyObject) => {
    seen.push(`${one.metadata.name}@${one.metadata.resourceVersion}`);
    return one;
  };
  const { fifo, drained } = setUp([object("known", 1), object("gone", 1)], { transform });
  fifo.resync();
  fifo.add(object("a", 2));
  fifo.replace([object("a", 3), object("known", 1)], list);
  drained();
  expect(seen).toEqual(["a@2", "a@3", "known@1"]);
});

test("keeps the order of one object's changes, and skips a resync where something is queued", () => {
  const { fifo, drained } = setUp([object("a", 1), object("b", 1)]);
  fifo.update(object("a", 2));
  fifo.update(object("a", 3));
  fifo.resync();
  expect(fifo.size).toBe(2);
  expect(drained()).toEqual(["Updated a@2", "Updated a@3", "Sync b@1"]);
  expect(drained()).toEqual([]);
});

test("keeps back the events of held keys, and what follows them", () => {
  const { fifo, held, drained } = setUp([object("a", 1)]);
  held.add("a");
  fifo.update(object("a", 2));
  fifo.add(object("b", 3));
  held.delete("a");
  fifo.replace([object("b", 3)], list);
  expect(drained()).toEqual(["Added b@3", "Replaced b@3"]);
  const released: string[] = [];
  fifo.release("a", (_key, { type }) => void released.push(type));
  expect(released).toEqual(["Updated", "Deleted"]);
  expect(fifo.size).toBe(0);
});
