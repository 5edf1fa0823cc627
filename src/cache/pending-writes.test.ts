import { expect, test } from "bun:test";
import * as fc from "fast-check";
import { systemClock } from "../platform/clock.ts";
import type { AnyObject } from "../resource/handle.ts";
import { Delivery } from "./delivery.ts";
import { DeltaProcessor } from "./delta-processor.ts";
import { Indexer } from "./store.ts";

const KEY = "ns/a";
const silent = { error: () => {} };

interface Told {
  readonly type: "add" | "update" | "delete";
  readonly version: string;
  readonly old?: string;
  readonly origin?: string | undefined;
}

interface Options {
  readonly covers?: (object: AnyObject) => boolean;
  readonly namespace?: string;
}

function setUp(options: Options = {}) {
  const held = new Map<string, number>();
  const store = new Indexer();
  const delivery = new Delivery(store, { log: silent, clock: systemClock, informer: "test", onResync: () => {} });
  const told: Told[] = [];
  const version = (one: AnyObject) => one.metadata.resourceVersion;
  delivery.addHandler(
    {
      onAdd: (one, { origin }) => void told.push({ type: "add", version: version(one), origin }),
      onUpdate: (one, old, { origin }) =>
        void told.push({ type: "update", version: version(one), old: version(old), origin }),
      onDelete: (one, { origin }) => void told.push({ type: "delete", version: version(one), origin }),
    },
    { name: "test" },
  );
  const processor = new DeltaProcessor({
    store,
    delivery,
    held,
    namespace: options.namespace ?? "",
    transformer: {
      transform: (one, shared) => (shared ? { ...one } : one),
      split: (objects) => ({ stubs: [], others: objects }),
    },
    needs: () => 0,
    covers: options.covers ?? (() => true),
    onHeard: () => {},
    onSynced: () => {},
  });
  const begin = (key = KEY) => void held.set(key, (held.get(key) ?? 0) + 1);
  const end = (result: Parameters<DeltaProcessor["recordWrite"]>[1] | undefined, key = KEY) => {
    const others = held.get(key)! - 1;
    if (others === 0) held.delete(key);
    else held.set(key, others);
    if (result !== undefined) processor.recordWrite(key, result);
    if (others === 0) processor.release(key);
  };
  const event = (type: "ADDED" | "MODIFIED" | "DELETED", one: AnyObject) => {
    processor.event(type, one);
    processor.flush();
  };
  const bookmark = (at: number) => {
    processor.event("BOOKMARK", object(at));
    processor.flush();
  };
  const list = (objects: AnyObject[], at: number) => {
    processor.beginList("gone");
    processor.page(objects, String(at));
    processor.endList(String(at));
  };
  const read = () => store.get(KEY)?.metadata.resourceVersion;
  const takeTold = () => told.splice(0);
  return { processor, store, held, begin, end, event, bookmark, list, read, takeTold };
}

function object(version: number, uid = "u", labels: Record<string, string> = {}): AnyObject {
  const metadata = { name: "a", namespace: "ns", uid, resourceVersion: String(version), creationTimestamp: "", labels };
  return { apiVersion: "v1", kind: "ConfigMap", metadata };
}

const mine = (version: number, uid?: string) => ({ object: object(version, uid), origin: "me" });

test("an answer is in the store at once, handlers know the origin, and its echo is silent", () => {
  const { processor, begin, end, event, list, read, takeTold } = setUp();
  list([object(10)], 10);
  takeTold();
  begin();
  end(mine(12));
  expect(read()).toBe("12");
  expect(takeTold()).toEqual([{ type: "update", version: "12", old: "10", origin: "me" }]);
  event("MODIFIED", object(12));
  expect(takeTold()).toEqual([]);
  expect(processor.pendingWrites).toBe(0);
});

test("an echo that comes before the answer is held, and the events of other keys are not", () => {
  const { store, begin, end, event, list, read, takeTold } = setUp();
  list([object(10)], 10);
  takeTold();
  begin();
  event("MODIFIED", object(12));
  const other = object(13);
  event("ADDED", { ...other, metadata: { ...other.metadata, name: "b" } });
  expect(read()).toBe("10");
  expect(store.has("ns/b")).toBe(true);
  takeTold();
  end(mine(12));
  expect(takeTold()).toEqual([{ type: "update", version: "12", old: "10", origin: "me" }]);
});

test.each(["before", "after"])("a foreign write under our own is told, its event %s the answer", (when) => {
  const { processor, begin, end, event, list, read, takeTold } = setUp();
  list([object(10)], 10);
  takeTold();
  begin();
  if (when === "before") event("MODIFIED", object(11));
  end(mine(12));
  if (when === "after") event("MODIFIED", object(11));
  expect(takeTold()).toEqual([
    { type: "update", version: "12", old: "10", origin: "me" },
    { type: "update", version: "12", old: "10", origin: undefined },
  ]);
  event("MODIFIED", object(12));
  expect(read()).toBe("12");
  expect(takeTold()).toEqual([]);
  expect(processor.pendingWrites).toBe(0);
});

test("several own writes with foreign ones between: each foreign one is told, no echo is", () => {
  const { begin, end, event, list, takeTold } = setUp();
  list([object(10)], 10);
  for (const version of [12, 15]) {
    begin();
    end(mine(version));
  }
  takeTold();
  for (const version of [11, 12, 13, 14, 15]) event("MODIFIED", object(version));
  expect(takeTold().map(({ version, old }) => [version, old])).toEqual([
    ["15", "10"],
    ["15", "12"],
    ["15", "13"],
  ]);
  event("MODIFIED", object(16));
  expect(takeTold()).toEqual([{ type: "update", version: "16", old: "15", origin: undefined }]);
});

test("concurrent writes may be answered in the other order", () => {
  const { processor, begin, end, event, list, read, takeTold } = setUp();
  list([object(10)], 10);
  takeTold();
  begin();
  begin();
  end(mine(12));
  event("MODIFIED", object(11));
  end(mine(11));
  event("MODIFIED", object(12));
  expect(read()).toBe("12");
  expect(takeTold()).toEqual([{ type: "update", version: "12", old: "10", origin: "me" }]);
  expect(processor.pendingWrites).toBe(0);
});

test("an answer that comes after that to a later deletion, or to a write out of the set, brings nothing back", () => {
  const { processor, begin, end, event, list, store, takeTold } = setUp({
    covers: ({ metadata }) => metadata.labels?.["in"] !== "no",
  });
  list([object(10)], 10);
  begin();
  begin();
  end({ deleted: { uid: "u" }, origin: "me" });
  takeTold();
  end(mine(12));
  expect([store.size, takeTold()]).toEqual([0, []]);
  event("MODIFIED", object(12));
  event("DELETED", object(13));
  expect([store.size, takeTold(), processor.pendingWrites]).toEqual([0, [], 0]);
  list([object(20, "v")], 20);
  begin();
  begin();
  end({ object: object(22, "v", { in: "no" }), origin: "me" });
  takeTold();
  end(mine(21, "v"));
  expect([store.size, takeTold()]).toEqual([0, []]);
  event("MODIFIED", object(21, "v"));
  event("DELETED", object(22, "v"));
  expect([store.size, takeTold(), processor.pendingWrites]).toEqual([0, [], 0]);
});

test("a list that shows an object no more outweighs an answer from before it, whatever is held of the key", () => {
  const { processor, begin, end, event, list, store, takeTold } = setUp();
  list([object(10)], 10);
  begin();
  event("DELETED", object(11)); // it left the set, and our write brought it back for a moment
  list([], 13);
  takeTold();
  end(mine(12));
  expect([store.size, takeTold().at(-1)?.type, processor.pendingWrites]).toEqual([0, "delete", 0]);
});

test("a first list that does not show what was written since it began takes it out, unless that is newer", () => {
  const { processor, begin, end, read, takeTold } = setUp();
  const answered = (version: number): void => {
    processor.beginList("gone");
    begin();
    end(mine(version));
    processor.page([], "15");
    processor.endList("15");
  };
  answered(12);
  expect([read(), takeTold().at(-1)?.type, processor.pendingWrites]).toEqual([undefined, "delete", 0]);
  answered(16);
  expect([read(), takeTold().at(-1)?.type, processor.pendingWrites]).toEqual(["16", "add", 1]);
});

test("a list that gives more of each object gives it of those that were just written too", () => {
  const { processor, begin, end, list, store } = setUp();
  list([object(10)], 10);
  begin();
  end(mine(12));
  processor.beginList("needs");
  processor.page([object(12, "u", { more: "yes" })], "12");
  processor.endList("12");
  expect(store.get(KEY)?.metadata.labels).toEqual({ more: "yes" });
  expect(processor.pendingWrites).toBe(0);
});

test("a refused write leaves no trace", () => {
  const { processor, begin, end, event, list, takeTold } = setUp();
  list([object(10)], 10);
  takeTold();
  begin();
  event("MODIFIED", object(11));
  end(undefined);
  expect(takeTold()).toEqual([{ type: "update", version: "11", old: "10", origin: undefined }]);
  expect(processor.pendingWrites).toBe(0);
});

test("an answer does not bring back an object whose deletion came first", () => {
  const { begin, end, event, list, read, takeTold } = setUp();
  list([object(10)], 10);
  takeTold();
  begin();
  event("MODIFIED", object(11));
  event("DELETED", object(12));
  end(mine(11));
  expect(read()).toBeUndefined();
  expect(takeTold().at(-1)).toEqual({ type: "delete", version: "12", origin: undefined });
  begin();
  list([], 20);
  end(mine(15));
  expect(read()).toBeUndefined();
});

test("a deleted object is gone at once, and its events are dropped until its deletion comes", () => {
  const { processor, begin, end, event, list, read, takeTold } = setUp();
  list([object(10)], 10);
  takeTold();
  begin();
  end({ deleted: { uid: "u" }, origin: "me" });
  expect(takeTold()).toEqual([{ type: "delete", version: "10", origin: "me" }]);
  event("MODIFIED", object(11));
  expect(read()).toBeUndefined();
  event("DELETED", object(12));
  expect(takeTold()).toEqual([]);
  expect(processor.pendingWrites).toBe(0);
  event("ADDED", object(13, "new"));
  expect(takeTold()).toEqual([{ type: "add", version: "13", origin: undefined }]);
});

test("deleted and created again by us: events of the old object change nothing", () => {
  const { processor, begin, end, event, list, read, takeTold } = setUp();
  list([object(10)], 10);
  begin();
  end({ deleted: { uid: "u" }, origin: "me" });
  begin();
  end(mine(20, "new"));
  takeTold();
  event("MODIFIED", object(11));
  event("DELETED", object(12));
  expect(read()).toBe("20");
  event("ADDED", object(20, "new"));
  expect(takeTold()).toEqual([]);
  expect(processor.pendingWrites).toBe(0);
});

test("a deletion is settled by another uid, and by a list that began after it", () => {
  const { processor, begin, end, event, list, read, bookmark } = setUp();
  list([object(10)], 10);
  begin();
  end({ deleted: { uid: "u" }, origin: "me" });
  event("ADDED", object(13, "new"));
  expect([read(), processor.pendingWrites]).toEqual(["13", 0]);
  begin();
  end({ deleted: { uid: "new" }, origin: "me" });
  bookmark(14);
  expect(processor.pendingWrites).toBe(1);
  list([], 20);
  expect(processor.pendingWrites).toBe(0);
});

test("a list that began before our deletion does not bring the object back", () => {
  const { processor, begin, end, list, read, event } = setUp();
  list([object(10)], 10);
  processor.beginList("gone");
  begin();
  end({ deleted: { uid: "u" }, origin: "me" });
  processor.page([object(10)], "11");
  processor.endList("11");
  expect(read()).toBeUndefined();
  event("DELETED", object(12));
  expect(processor.pendingWrites).toBe(0);
});

test("a list neither removes nor replaces what is newer, and removes what we wrote and others deleted", () => {
  const { processor, begin, end, list, read, takeTold } = setUp();
  list([], 10);
  processor.beginList("gone");
  begin();
  end(mine(12));
  processor.page([], "11");
  processor.endList("11");
  expect(read()).toBe("12");
  processor.beginList("gone");
  processor.page([object(11)], "11");
  processor.endList("11");
  expect(read()).toBe("12");
  takeTold();
  list([], 15);
  expect(read()).toBeUndefined();
  expect(takeTold()).toEqual([{ type: "delete", version: "12", origin: undefined }]);
  expect(processor.pendingWrites).toBe(0);
});

test("a list in place of the echoes: what may have come from outside is told", () => {
  const { processor, begin, end, list, takeTold } = setUp();
  list([object(10)], 10);
  begin();
  end(mine(12));
  takeTold();
  list([object(12)], 12);
  expect(takeTold()).toEqual([{ type: "update", version: "12", old: "10", origin: undefined }]);
  begin();
  end(mine(14));
  takeTold();
  list([object(16)], 16);
  expect(takeTold()).toEqual([{ type: "update", version: "16", old: "12", origin: undefined }]);
  expect(processor.pendingWrites).toBe(0);
});

test.each(["list", "event"])("what a writer has taken notice of is not told again, by a %s", (by) => {
  const { processor, begin, end, event, list, takeTold } = setUp();
  list([object(10)], 10);
  begin();
  end(mine(12));
  begin("ns/b");
  const other = object(13);
  const theirs = { ...other, metadata: { ...other.metadata, name: "b" } };
  end({ object: theirs, origin: "somebody else" }, "ns/b");
  takeTold();
  processor.markObserved(["me"]);
  // Version 11 is from outside, and was in the answer of version 12 already.
  if (by === "event") event("MODIFIED", object(11));
  else list([object(12), theirs], 13);
  expect(takeTold().map(({ version }) => version)).toEqual(by === "event" ? [] : ["13"]);
  event("MODIFIED", object(14));
  expect(takeTold()).toEqual([{ type: "update", version: "14", old: "12", origin: undefined }]);
});

test("a write that takes an object out of the set removes it, and older events do not bring it back", () => {
  const covers = (one: AnyObject) => one.metadata.labels?.["app"] === "web";
  const { processor, begin, end, event, list, read, takeTold } = setUp({ covers });
  const web = { app: "web" };
  list([object(10, "u", web)], 10);
  takeTold();
  begin();
  end(mine(12));
  expect(read()).toBeUndefined();
  expect(takeTold()).toEqual([{ type: "delete", version: "10", origin: "me" }]);
  event("MODIFIED", object(11, "u", web));
  event("DELETED", object(12, "u", web));
  expect(takeTold()).toEqual([]);
  expect(processor.pendingWrites).toBe(0);
  event("ADDED", object(13, "u", web));
  expect(read()).toBe("13");
});

test("a write that changed nothing is not remembered", () => {
  const { processor, begin, end, list, takeTold } = setUp();
  list([object(10)], 10);
  takeTold();
  begin();
  end(mine(10));
  expect(takeTold()).toEqual([]);
  expect(processor.pendingWrites).toBe(0);
});

test("the records of writes that no event will show go with a bookmark, and are bounded", () => {
  const { processor, bookmark, list, held } = setUp({ covers: () => false });
  list([], 10);
  for (let i = 0; i < 3000; i++) {
    processor.recordWrite(`ns/${i}`, mine(20 + i));
    processor.recordWrite(`ns/deleted-${i}`, { deleted: { uid: `u${i}` }, origin: "me" });
  }
  expect(processor.pendingWrites).toBeLessThanOrEqual(4000);
  held.clear();
  bookmark(5000);
  expect(processor.pendingWrites).toBeLessThanOrEqual(1000);
  list([], 6000);
  expect(processor.pendingWrites).toBe(0);
});

test("an echo while another write of the key is under way waits behind what came before it", () => {
  const { processor, begin, end, event, list, read, takeTold } = setUp();
  list([object(10)], 10);
  begin();
  begin();
  end(mine(12));
  takeTold();
  event("MODIFIED", object(11));
  event("MODIFIED", object(12));
  expect([takeTold(), processor.resourceVersion]).toEqual([[], "12"]);
  end(mine(14));
  expect(takeTold()).toEqual([
    { type: "update", version: "14", old: "12", origin: "me" },
    { type: "update", version: "14", old: "10", origin: undefined },
  ]);
  event("MODIFIED", object(14));
  expect([read(), processor.pendingWrites]).toEqual(["14", 0]);
});

test("an event from outside that is held is taken in as any other when the write is refused", () => {
  const { begin, end, event, list, store, takeTold } = setUp();
  list([object(10)], 10);
  takeTold();
  begin();
  event("MODIFIED", object(11, "u", { app: "web" }));
  end(undefined);
  expect(store.get(KEY)?.metadata.labels).toEqual({ app: "web" });
  expect(takeTold()).toEqual([{ type: "update", version: "11", old: "10", origin: undefined }]);
});

/** A server with one object under the key, whose stream comes late. */
class Server {
  version = 10;
  uid = 1;
  now: AnyObject | undefined;
  /** Versions written from outside. */
  readonly foreign = new Set<string>();
  readonly stream: { type: "ADDED" | "MODIFIED" | "DELETED"; object: AnyObject; foreign: boolean }[] = [];

  put(foreign: boolean): AnyObject {
    const exists = this.now !== undefined;
    if (!exists) this.uid++;
    this.now = object(++this.version, `u${this.uid}`);
    if (foreign) this.foreign.add(String(this.version));
    this.stream.push({ type: exists ? "MODIFIED" : "ADDED", object: this.now, foreign });
    return this.now;
  }

  remove(foreign: boolean): string | undefined {
    if (this.now === undefined) return undefined;
    const { uid } = this.now.metadata;
    this.stream.push({ type: "DELETED", object: object(++this.version, uid), foreign });
    this.now = undefined;
    return uid;
  }
}

test("any order of own writes, foreign writes, late events and lists: reads see our writes, nothing foreign is hidden, the end is the server's", () => {
  const step = fc.constantFrom(
    "own",
    "own",
    "foreign",
    "foreign",
    "ownDelete",
    "foreignDelete",
    "event",
    "event",
    "event",
    "answer",
    "answer",
    "list",
    "bookmark",
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const server = new Server();
      const { processor, begin, end, event, bookmark, list, store, takeTold } = setUp();
      list([], server.version);
      /** Answers under way. */
      const answers: (() => void)[] = [];
      /** What handlers must have been told of from outside since they last were. */
      let owed: string | undefined;
      const owedWhenReleased: string[] = [];
      let lastOwn: AnyObject | undefined;
      const check = () => {
        const stored = store.get(KEY);
        const told = takeTold();
        const isForeign = told.some(({ origin }) => origin === undefined);
        if (isForeign) owed = undefined;
        if (answers.length === 0) {
          for (const uid of owedWhenReleased.splice(0)) if (uid === stored?.metadata.uid) expect(isForeign).toBe(true);
        }
        // What we wrote last is seen, unless what was shown since is newer, or it is gone.
        if (lastOwn !== undefined && stored !== undefined) {
          expect(Number(stored.metadata.resourceVersion)).toBeGreaterThanOrEqual(
            Number(lastOwn.metadata.resourceVersion),
          );
        }
      };
      const show = () => {
        const next = server.stream.shift();
        if (next === undefined) return;
        const isHeld = answers.length > 0;
        const stored = store.get(KEY);
        const isNews =
          next.foreign && next.type === "MODIFIED" && !isHeld && stored?.metadata.uid === next.object.metadata.uid;
        event(next.type, next.object);
        if (isHeld && next.foreign && next.type !== "DELETED") owedWhenReleased.push(next.object.metadata.uid);
        if (isNews) owed = next.object.metadata.resourceVersion;
        if (next.type === "DELETED" && next.object.metadata.uid === lastOwn?.metadata.uid) lastOwn = undefined;
        check();
        expect(owed).toBeUndefined();
      };
      for (const one of steps) {
        if (one === "own") {
          const answer = server.put(false);
          begin();
          answers.push(() => {
            end({ object: answer, origin: "me" });
            lastOwn =
              lastOwn === undefined ||
              Number(answer.metadata.resourceVersion) > Number(lastOwn.metadata.resourceVersion)
                ? answer
                : lastOwn;
          });
        } else if (one === "ownDelete") {
          const uid = server.remove(false);
          if (uid === undefined) continue;
          begin();
          answers.push(() => {
            end({ deleted: { uid }, origin: "me" });
            expect(store.get(KEY)?.metadata.uid).not.toBe(uid);
            if (lastOwn?.metadata.uid === uid) lastOwn = undefined;
          });
        } else if (one === "foreign") server.put(true);
        else if (one === "foreignDelete") server.remove(true);
        else if (one === "event") show();
        else if (one === "bookmark") {
          if (server.stream.length === 0) bookmark(server.version);
        } else if (one === "answer") {
          answers.shift()?.();
          check();
        } else if (one === "list") {
          // After a list the watch goes on from there.
          server.stream.length = 0;
          list(server.now === undefined ? [] : [server.now], server.version);
          if (server.now === undefined) lastOwn = undefined;
          check();
        }
      }
      while (answers.length > 0) {
        answers.shift()!();
        check();
      }
      while (server.stream.length > 0) show();
      expect(store.get(KEY)?.metadata).toEqual(server.now?.metadata as never);
      bookmark(server.version);
      list(server.now === undefined ? [] : [server.now], server.version);
      expect(processor.pendingWrites).toBe(0);
      expect(store.get(KEY)?.metadata).toEqual(server.now?.metadata as never);
    }),
    { numRuns: 5000 },
  );
});
