import { describe, expect, test } from "bun:test";
import { changesOf, holdsMore, mergedWith } from "./field-changes.ts";
import { withoutUnwanted } from "./field-removal.ts";
import { guardedOperations } from "./write-body.ts";
import { moved } from "./manager-entries.ts";

const nowhere = (): boolean => false;
const anywhere = (): boolean => true;

describe("changesOf", () => {
  const fields = {
    "f:data": { ".": {}, "f:a": {}, "f:b": {} },
    "f:list": { ".": {}, 'k:{"name":"x"}': { ".": {}, "f:name": {}, "f:v": {} } },
    "f:whole": {},
  };
  const live = {
    data: { a: "1", b: "1", theirs: "1" },
    list: [
      { name: "y", v: 9 },
      { name: "x", v: 1, w: 2 },
    ],
    whole: { k: 1 },
  };
  const changes = (desired: object, mayAdd = nowhere) =>
    changesOf({ desired: desired as Record<string, unknown>, live, fields, mayAdd });

  test("gives what differs of maps, and lists as a whole with the items of others", () => {
    expect(changes({ data: { a: "2", b: "1" } })).toEqual({ patch: { data: { a: "2" } }, mergesLists: false });
    expect(changes({ data: { a: "1" }, list: [{ name: "x", v: 1 }] })).toEqual({
      patch: undefined,
      mergesLists: false,
    });
    expect(changes({ list: [{ name: "x", v: 3 }] })).toEqual({
      patch: {
        list: [
          { name: "y", v: 9 },
          { name: "x", v: 3, w: 2 },
        ],
      },
      mergesLists: true,
    });
  });

  test("leaves to the server what only the schema can tell", () => {
    expect(changes({ added: "1" })).toBeUndefined();
    expect(changes({ added: "1" }, anywhere)).toEqual({ patch: { added: "1" }, mergesLists: false });
    expect(changes({ whole: { k: 2 } })).toBeUndefined();
    expect(changes({ data: { a: null } })).toBeUndefined();
    expect(
      changes({
        list: [
          { name: "x", v: 1 },
          { name: "y", v: 9 },
        ],
      }),
    ).toBeUndefined(); // another order
    expect(changes({ list: [{ name: "x", v: 1 }, { name: "z" }] })).toBeUndefined();
    expect(changes({ list: [{ name: "x", v: 1 }, { name: "z" }] }, anywhere)?.patch).toEqual({
      list: [...live.list, { name: "z" }],
    });
  });

  test("a key may have any name", () => {
    const desired = JSON.parse('{"data":{"__proto__":"1"}}') as Record<string, unknown>;
    const { patch } = changesOf({ desired, live: {}, fields: undefined, mayAdd: anywhere })!;
    expect(JSON.stringify(mergedWith({}, patch))).toBe('{"data":{"__proto__":"1"}}');
  });

  test("holdsMore sees what is no longer desired", () => {
    expect(holdsMore({ data: { a: "" }, list: [{ name: "x", v: 1 }], whole: {} }, fields)).toBe(true);
    expect(holdsMore({ data: { a: "", b: "", c: "" }, list: [{ name: "x", v: 1 }], whole: {} }, fields)).toBe(false);
  });
});

test("withoutUnwanted removes what is held and not desired, unless others hold it too", () => {
  const live = { a: "1", both: "1", part: { x: 1, y: 2 }, list: [{ type: "A" }, { type: "B" }] };
  const fields = {
    "f:a": {},
    "f:both": {},
    "f:part": { ".": {}, "f:x": {} },
    "f:list": { 'k:{"type":"A"}': { "f:type": {} }, 'k:{"type":"B"}': { "f:type": {} } },
  };
  const others = [{ "f:both": {}, "f:part": { "f:y": {} } }];
  const desired = { list: [{ type: "B" }] };
  expect(withoutUnwanted({ live, desired, fields, others })).toEqual({
    both: "1",
    part: { y: 2 },
    list: [{ type: "B" }],
  });
});

test("guardedOperations test what they replace as a whole, and that what they add is not there", () => {
  expect(guardedOperations("/status", { n: 1, "a/b": { c: 1 }, l: [1] }, { n: 2, "a/b": { d: 1 }, l: [2] })).toEqual([
    { op: "add", path: "/status/n", value: 2 },
    { op: "test", path: "/status/a~1b/d", value: null },
    { op: "add", path: "/status/a~1b/d", value: 1 },
    { op: "test", path: "/status/l", value: [1] },
    { op: "add", path: "/status/l", value: [2] },
  ]);
});

describe("moved", () => {
  const entry = (manager: string, operation: string, fieldsV1: object, more = {}) =>
    ({ manager, operation, apiVersion: "v1", fieldsV1, ...more }) as never;

  test("hands updates over to the applies of the same manager and subresource", () => {
    const entries = [
      entry("us", "Update", { "f:a": {} }),
      entry("they", "Update", { "f:x": {} }),
      entry("us", "Update", { "f:status": {} }, { subresource: "status" }),
      entry("us", "Apply", { "f:b": {} }),
    ];
    expect(moved(entries, { from: [], to: "us", asApplied: true })).toEqual([
      entry("us", "Apply", { "f:a": {}, "f:b": {} }),
      entries[1]!,
      entries[2]!,
    ]);
  });

  test("renames, and says when there is nothing to move", () => {
    const entries = [entry("old", "Update", { "f:a": {} }), entry("new", "Apply", { "f:b": {} })];
    expect(moved(entries, { from: ["old"], to: "new", asApplied: false })).toEqual([
      entry("new", "Update", { "f:a": {} }),
      entries[1]!,
    ]);
    expect(moved(entries, { from: ["other"], to: "new", asApplied: false })).toBeUndefined();
    expect(moved(entries, { from: [], to: "new", asApplied: true })).toBeUndefined();
  });
});
