import { expect, test } from "bun:test";
import type { AnyObject } from "../resource/handle.ts";
import { Fifo } from "./fifo.ts";

function object(name: string, version = 1): AnyObject {
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name, uid: name, resourceVersion: `${version}`, creationTimestamp: "" },
  };
}

const text = ({ metadata }: AnyObject) => `${metadata.name}@${metadata.resourceVersion}`;

test("Fifo gives the newest of each object, in the order in which the first of each came", async () => {
  const fifo = new Fifo();
  for (const one of [object("a"), object("b"), object("a", 2)]) fifo.add(one);
  expect(fifo.size).toBe(2);
  expect([await fifo.pop(text), await fifo.pop(text)]).toEqual(["a@2", "b@1"]);
});

test("Fifo never gives what was deleted before it was taken", async () => {
  const fifo = new Fifo();
  fifo.add(object("a"));
  fifo.update(object("b"));
  fifo.delete(object("a"));
  expect(await fifo.pop(text)).toBe("b@1");
  expect(fifo.size).toBe(0);
});

test("Fifo gives again what its consumer failed on, unless there is newer", async () => {
  const fifo = new Fifo();
  fifo.add(object("a"));
  const fail = () => {
    throw new Error("no");
  };
  await expect(fifo.pop(fail)).rejects.toThrow("no");
  expect(await fifo.pop(text)).toBe("a@1");
  fifo.add(object("a", 2));
  const overtaken = (): never => {
    fifo.add(object("a", 3));
    throw new Error("no");
  };
  await expect(fifo.pop(overtaken)).rejects.toThrow("no");
  expect([await fifo.pop(text), fifo.size]).toEqual(["a@3", 0]);
});

test("Fifo has synced when the first replacement has been taken", async () => {
  const fifo = new Fifo();
  expect(fifo.hasSynced).toBe(false);
  fifo.replace([object("a"), object("b")]);
  expect([...fifo.keys()]).toEqual(["a", "b"]);
  expect([...fifo.values()].map(text)).toEqual(["a@1", "b@1"]);
  expect(text(fifo.get("a")!)).toBe("a@1");
  await fifo.pop(text);
  expect(fifo.hasSynced).toBe(false);
  fifo.delete(object("b"));
  expect(fifo.hasSynced).toBe(true);
});

test.each(["add", "update", "delete"] as const)(
  "FIFO-06 %s without a replacement before it makes it synced",
  (change) => {
    const fifo = new Fifo();
    expect(fifo.hasSynced).toBe(false);
    fifo[change](object("a", 1));
    expect(fifo.hasSynced).toBe(true);
    fifo.replace([object("a", 2), object("b", 2)]);
    expect(fifo.hasSynced).toBe(true);
  },
);

test("Fifo keys items as its user says", async () => {
  const fifo = new Fifo<number>({ keyOf: (item) => String(item % 10) });
  fifo.add(1);
  fifo.add(11);
  expect(await fifo.pop((item) => item)).toBe(11);
});

test("FIFO-07 pop waits for an item, and fails when the queue is closed or its signal aborts", async () => {
  const fifo = new Fifo();
  const waiting = fifo.pop(text);
  fifo.add(object("a"));
  expect(await waiting).toBe("a@1");
  const gaveUp = new AbortController();
  const aborted = fifo.pop(text, gaveUp.signal);
  gaveUp.abort(new Error("enough"));
  await expect(aborted).rejects.toThrow("enough");
  const closed = fifo.pop(text);
  fifo.close();
  await expect(closed).rejects.toThrow("closed");
  await expect(fifo.pop(text)).rejects.toThrow("closed");
});
