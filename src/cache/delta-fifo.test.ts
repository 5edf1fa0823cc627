import { expect, test } from "bun:test";
import { array, assert, constant, constantFrom, oneof, property, record } from "fast-check";
import type { AnyObject } from "../resource/handle.ts";
import { Delta, DeltaFifo, type DeltaFifoOptions, type ListMark, type Popped } from "./delta-fifo.ts";

function object(name: string, version: number): AnyObject {
  const metadata = { name, uid: name, resourceVersion: String(version), creationTimestamp: "" };
  return { apiVersion: "v1", kind: "ConfigMap", metadata };
}

const list: ListMark = { resourceVersion: "100", sequence: 1 };

function setUp(known: readonly AnyObject[] = [], options: Pick<DeltaFifoOptions, "transform"> = {}) {
  const objects = new Map(known.map((one) => [one.metadata.name, one]));
  const fifo = new DeltaFifo({ known: objects, ...options });
  const drained = () => {
    const out: string[] = [];
    fifo.drain((key, { type, object: { metadata } }) => void out.push(`${type} ${key}@${metadata.resourceVersion}`));
    return out;
  };
  return { fifo, drained };
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

test("defers deltas, and what a list says of their keys after them", () => {
  const { fifo, drained } = setUp([object("a", 1)]);
  fifo.defer("a", new Delta("Updated", object("a", 2)));
  fifo.add(object("b", 3));
  fifo.replace([object("b", 3)], list);
  expect(drained()).toEqual(["Added b@3", "Replaced b@3"]);
  expect([fifo.hasDeferred("a"), fifo.hasDeferredObject("a", "a"), fifo.hasDeferredObject("a", "b")]).toEqual([
    true,
    true,
    false,
  ]);
  expect([...fifo.deferredKeys]).toEqual(["a"]);
  const first = fifo.release("a");
  expect([first?.type, first?.next?.type, first?.next?.next]).toEqual(["Updated", "Deleted", undefined]);
  expect([fifo.size, fifo.release("a")]).toEqual([0, undefined]);
});

const popped = ({ key, deltas, isInInitialList }: Popped) =>
  `${isInInitialList ? "initial " : ""}${key}: ${deltas.map(({ type, object: { metadata } }) => `${type}@${metadata.resourceVersion}`).join(" ")}`;

test("pop gives everything that happened to an object at once, and knows the initial list", async () => {
  const fifo = new DeltaFifo();
  expect(fifo.hasSynced).toBe(false);
  fifo.replace([object("a", 2), object("b", 2)], "2");
  fifo.update(object("b", 3));
  expect(await fifo.pop(popped)).toBe("initial a: Replaced@2");
  expect(fifo.hasSynced).toBe(false);
  expect(await fifo.pop(popped)).toBe("initial b: Replaced@2 Updated@3");
  expect(fifo.hasSynced).toBe(true);
  fifo.delete(object("a", 4));
  expect(await fifo.pop(popped)).toBe("a: Deleted@4");
});

test("an empty list has synced at once, and so has a drained one", () => {
  const empty = new DeltaFifo();
  empty.replace([], "1");
  expect(empty.hasSynced).toBe(true);
  const { fifo, drained } = setUp();
  fifo.replace([object("a", 1)], list);
  expect(fifo.hasSynced).toBe(false);
  drained();
  expect(fifo.hasSynced).toBe(true);
});

test("pop gives again what its consumer failed on, ahead of what is newer", async () => {
  const fifo = new DeltaFifo();
  fifo.add(object("a", 1));
  const fail = (): never => {
    fifo.delete(object("a", 2));
    throw new Error("no");
  };
  await expect(fifo.pop(fail)).rejects.toThrow("no");
  expect(await fifo.pop(popped)).toBe("a: Added@1 Deleted@2");
});

test.each(["add", "update", "delete"] as const)(
  "FIFO-06 %s without a list before it makes it synced",
  async (change) => {
    const fifo = new DeltaFifo();
    expect(fifo.hasSynced).toBe(false);
    fifo[change](object("a", 1));
    expect(fifo.hasSynced).toBe(true);
    fifo.replace([object("a", 2), object("b", 2)], "2");
    expect(fifo.hasSynced).toBe(true);
    await fifo.pop(({ isInInitialList }) => expect(isInInitialList).toBe(false));
  },
);

test("FIFO-07 pop waits for a delta, and fails when the queue is closed or its signal aborts", async () => {
  const { fifo } = setUp([object("known", 1)]);
  const waiting = fifo.pop(popped);
  fifo.defer("kept", new Delta("Added", object("kept", 1)));
  fifo.resync();
  expect(await waiting).toBe("known: Sync@1");
  const gaveUp = new AbortController();
  const aborted = fifo.pop(popped, gaveUp.signal);
  gaveUp.abort(new Error("enough"));
  await expect(aborted).rejects.toThrow("enough");
  const closed = fifo.pop(popped);
  fifo.close();
  await expect(closed).rejects.toThrow("closed");
});

test("any order of changes and lists: each object's last delta tells its final state, and no key is there twice", () => {
  const names = ["a", "b", "c"] as const;
  const step = oneof(
    record({ kind: constantFrom("set", "delete"), name: constantFrom(...names) }),
    record({ kind: constant("list") }),
    record({ kind: constant("drain") }),
    record({ kind: constant("resync") }),
  );
  assert(
    property(array(step, { maxLength: 40 }), (steps) => {
      const server = new Map<string, AnyObject>();
      const store = new Map<string, AnyObject>();
      const fifo = new DeltaFifo({ known: store });
      let version = 0;
      const drain = (): void => {
        const seen = new Set<string>();
        let at: string | undefined;
        fifo.drain((key, { type, object: one }) => {
          if (key !== at) expect(seen.has(key)).toBe(false);
          seen.add(key);
          at = key;
          const before = Number(store.get(key)?.metadata.resourceVersion ?? 0);
          if (type === "Deleted") store.delete(key);
          else {
            expect(Number(one.metadata.resourceVersion)).toBeGreaterThanOrEqual(before);
            store.set(key, one);
          }
        });
      };
      for (const one of steps) {
        version++;
        if (one.kind === "drain") drain();
        else if (one.kind === "resync") fifo.resync();
        else if (one.kind === "list") fifo.replace([...server.values()], String(version));
        else {
          const { name } = one as { name: string };
          const had = server.has(name);
          if (one.kind === "delete") {
            if (!had) continue;
            server.delete(name);
            // Some deletions are never seen: the next list tells.
            if (version % 2 === 0) fifo.delete(object(name, version));
          } else {
            server.set(name, object(name, version));
            if (had) fifo.update(object(name, version));
            else fifo.add(object(name, version));
          }
        }
      }
      fifo.replace([...server.values()], String(version));
      drain();
      const state = (objects: Map<string, AnyObject>) =>
        [...objects].map(([key, { metadata }]) => `${key}@${metadata.resourceVersion}`).sort();
      expect(state(store)).toEqual(state(server));
    }),
    { numRuns: 300 },
  );
});

test("admits an event unless something is queued before it, also when other keys are deferred", () => {
  const { fifo, drained } = setUp([object("c", 1)]);
  expect([fifo.admit("a", new Delta("Updated", object("a", 1))), fifo.size, fifo.hasSynced]).toEqual([true, 0, true]);
  fifo.defer("a", new Delta("Updated", object("a", 2)));
  expect([fifo.admit("b", new Delta("Deleted", object("b", 3))), fifo.size]).toEqual([true, 1]);
  fifo.clear();
  fifo.replace([object("c", 5)], "5");
  expect(fifo.admit("c", new Delta("Updated", object("c", 6)))).toBe(false);
  expect(drained()).toEqual(["Replaced c@5", "Updated c@6"]);
});

test("admits the objects of a first list unless something is queued or deferred before them", () => {
  const { fifo, drained } = setUp();
  fifo.beginReplace();
  expect([fifo.isFresh, fifo.admitListed("a", new Delta("Replaced", object("a", 4), list))]).toEqual([true, true]);
  fifo.defer("b", new Delta("Updated", object("b", 3)));
  expect(fifo.admitListed("b", new Delta("Replaced", object("b", 4), list))).toBe(false);
  expect(fifo.admitListed("c", new Delta("Replaced", object("c", 4), list))).toBe(false);
  fifo.endReplace(list);
  expect([drained(), fifo.hasSynced]).toEqual([["Replaced c@4"], true]);
  expect(fifo.release("b")?.next?.type).toBe("Replaced");
});
