import { expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { KubeObject } from "../hooks.ts";
import { expireEvents } from "./event-expiry.ts";
import { SqliteJournal } from "./sqlite-journal.ts";
import { Storage } from "./storage.ts";
import type { StoreEvent } from "./stored.ts";

function thing(name: string, fields: Record<string, unknown> = {}): KubeObject {
  return { kind: "Thing", apiVersion: "v1", metadata: { name, namespace: "default" }, ...fields };
}

const now = (): number => 0;

test("Storage gives every write of every collection the next version", () => {
  const storage = new Storage({ now });
  const things = storage.collection("/things");
  const first = storage.put(things, "default/a", thing("a"));
  const second = storage.put(storage.collection("/others"), "default/a", thing("a"));
  const removed = storage.remove(things, "default/a");
  expect([first.version, second.version, removed?.version]).toEqual([2, 3, 4]);
  expect(removed?.object.metadata.resourceVersion).toBe("4");
  expect(first.object.metadata.resourceVersion).toBe("2");
});

test("Collection lists in the order of keys, also at an earlier version", () => {
  const storage = new Storage({ now });
  const things = storage.collection("/things");
  for (const name of ["c", "a", "b"]) storage.put(things, `default/${name}`, thing(name));
  const then = storage.version;
  storage.remove(things, "default/a");
  storage.put(things, "default/b", thing("b", { changed: true }));
  storage.put(things, "default/d", thing("d"));
  expect(things.all().map(({ key }) => key)).toEqual(["default/b", "default/c", "default/d"]);
  const earlier = things.allAt(then);
  expect(earlier.map(({ key }) => key)).toEqual(["default/a", "default/b", "default/c"]);
  expect(earlier[1]?.object).not.toHaveProperty("changed");
});

test("History is bounded by count and by age", () => {
  let time = 0;
  const storage = new Storage({ now: () => time, history: { count: 3, age: 100 } });
  const things = storage.collection("/things");
  for (let index = 0; index < 5; index += 1) storage.put(things, `default/${index}`, thing(`${index}`));
  expect(things.history.after(0).map(({ version }) => version)).toEqual([4, 5, 6]);
  expect(things.history.compacted).toBe(3);
  time = 1000;
  storage.put(things, "default/late", thing("late"));
  expect(things.history.after(0).map(({ stored }) => stored.key)).toEqual(["default/late"]);
});

test("Storage lists a version for one to two intervals, with or without changes", () => {
  let time = 0;
  const storage = new Storage({ now: () => time, history: { age: 100 } });
  const things = storage.collection("/things");
  const others = storage.collection("/others");
  storage.put(things, "default/a", thing("a"));
  time = 150;
  storage.expire();
  const then = storage.version;
  time = 299;
  storage.put(others, "default/b", thing("b"));
  expect(storage.isExpired(things, then)).toBe(false);
  time = 300;
  storage.expire();
  expect([storage.isExpired(things, then), storage.isExpired(others, then)]).toEqual([true, true]);
  // Nobody writes any more.
  const last = storage.version;
  time = 450;
  storage.expire();
  expect(storage.isExpired(things, last)).toBe(false);
  time = 1000;
  storage.expire();
  expect(storage.isExpired(things, last)).toBe(true);
  // A watch begins wherever the changes since then are known.
  expect(things.history.compacted).toBe(0);
});

test("Storage gives no version again that a list has shown", () => {
  const folder = mkdtempSync(join(tmpdir(), "binnacle-storage-"));
  try {
    let time = 0;
    const storage = new Storage({ journal: new SqliteJournal(folder), now: () => time });
    storage.put(storage.collection("/things"), "default/a", thing("a"));
    time = 60 * 60_000;
    storage.expire();
    const shown = storage.version;
    storage.close();
    const again = new Storage({ journal: new SqliteJournal(folder), now });
    expect([again.version, shown]).toEqual([shown, 4]);
    again.close();
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test("compact forgets what happened before", () => {
  const storage = new Storage({ now });
  const things = storage.collection("/things");
  storage.put(things, "default/a", thing("a"));
  storage.compact();
  storage.put(things, "default/b", thing("b"));
  expect(things.history.compacted).toBe(2);
  expect(things.history.after(0).map(({ version }) => version)).toEqual([3]);
});

test("Storage with a journal announces what is kept, and comes back with it", async () => {
  const folder = mkdtempSync(join(tmpdir(), "binnacle-storage-"));
  try {
    const storage = new Storage({ journal: new SqliteJournal(folder), now });
    const things = storage.collection("/things");
    const announced: StoreEvent[] = [];
    things.listen((event) => void announced.push(event));
    storage.put(things, "default/a", thing("a"));
    storage.put(things, "default/b", thing("b"));
    storage.remove(things, "default/b");
    expect(announced).toEqual([]);
    await storage.committed();
    expect(announced.map(({ type }) => type)).toEqual(["ADDED", "ADDED", "DELETED"]);
    expect(storage.committed()).toBeUndefined();
    storage.close();

    const again = new Storage({ journal: new SqliteJournal(folder), now });
    expect(again.version).toBe(4);
    const restored = again.collection("/things");
    expect(restored.all().map(({ object }) => object.metadata.resourceVersion)).toEqual(["2"]);
    expect(restored.history.compacted).toBe(4);
    again.close();
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test("expireEvents takes away events older than an hour, and no younger ones", () => {
  const storage = new Storage({ now });
  const events = storage.collection("/events");
  const at = (minute: number): string => `2026-01-01T00:${String(minute).padStart(2, "0")}:00Z`;
  for (const minute of [0, 30]) {
    const { metadata, ...rest } = thing(`e${minute}`);
    storage.put(events, `default/e${minute}`, { ...rest, metadata: { ...metadata, creationTimestamp: at(minute) } });
  }
  expireEvents(storage, () => Date.parse("2026-01-01T01:10:00Z"))();
  expect(events.all().map(({ key }) => key)).toEqual(["default/e30"]);
});
