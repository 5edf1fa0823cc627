import { describe, expect, test } from "bun:test";
import type { FieldsV1 } from "../resource/meta.ts";
import { Containment, projected } from "./containment.ts";

const has = (desired: unknown, live: unknown, fields: object = {}, isBuiltIn = true): boolean =>
  new Containment(isBuiltIn).has(desired, live, fields as FieldsV1);

describe("Containment", () => {
  test("compares maps by value, whatever the entry says", () => {
    const fields = { "f:hard": {} }; // what is left of a map of which others have taken every entry
    expect(has({ hard: { cpu: "1" } }, { hard: { cpu: "9" } }, fields)).toBe(false);
    expect(has({ hard: { cpu: "1" } }, { hard: { cpu: "1", theirs: "2" } }, fields)).toBe(true);
    expect(has({ hard: { constructor: "1" } }, { hard: {} }, fields)).toBe(false);
  });

  test("doubts what we own nothing of, unless it is exactly the same", () => {
    expect(has({ selector: { app: "x" } }, { selector: { app: "x" } }, { "f:other": {} })).toBe(true);
    expect(has({ selector: { app: "x" } }, { selector: { app: "x", y: "z" } }, { "f:other": {} })).toBe(false);
    expect(has({ list: [1] }, { list: [1, 2] }, { "f:other": {} })).toBe(false);
  });

  test("finds the items of a list that is merged by item, in their order", () => {
    const fields = { "f:list": { 'k:{"name":"a"}': { ".": {}, "f:v": {} }, 'k:{"name":"b"}': { ".": {}, "f:v": {} } } };
    const items = (...names: string[]) => ({ list: names.map((name) => ({ name, v: 1 })) });
    expect(has(items("a", "b"), items("theirs", "a", "more", "b"), fields)).toBe(true);
    expect(has(items("a", "b"), items("b", "a"), fields)).toBe(false);
    expect(has(items("a", "b"), items("a"), fields)).toBe(false);
    expect(has({ set: ["x"] }, { set: ["y", "x"] }, { "f:set": { 'v:"x"': {} } })).toBe(true);
    expect(has({ set: ["x"] }, { set: ["y", "x"] }, { "f:set": { 'v:"x"': {}, 'v:"y"': {} } })).toBe(false); // ours, and not desired
  });

  test("takes a list that is held as a whole as it is, with what the server completes", () => {
    expect(has({ args: ["a"] }, { args: ["a", "b"] }, { "f:args": {} })).toBe(false);
    expect(has({ rules: [{ verb: "get" }] }, { rules: [{ verb: "get", all: true }] }, { "f:rules": {} })).toBe(true);
    const tolerations = [{ key: "a" }];
    const added = { tolerations: [{ key: "a" }, { key: "admission" }] };
    const fields = { "f:tolerations": {} };
    expect(has({ spec: { tolerations } }, { spec: added }, { "f:spec": fields })).toBe(true);
    expect(has({ tolerations }, added, fields)).toBe(false); // of a template
    expect(has({ ports: [{ port: 80 }] }, { ports: [{ port: 80 }, { port: 81 }] }, { "f:ports": {} })).toBe(false);
  });

  test.each([
    [true, "a quantity", { limits: { cpu: "1000m" } }, { limits: { cpu: "1" } }],
    [true, "a fraction", { requests: { memory: "0.5Gi" } }, { requests: { memory: "512Mi" } }],
    [true, "a number", { hard: { cpu: 0.5 } }, { hard: { cpu: "500m" } }],
    [true, "an exponent", { capacity: { storage: "1e3" } }, { capacity: { storage: "1k" } }],
    [false, "another quantity", { limits: { cpu: "1000m" } }, { limits: { cpu: "2" } }],
    [false, "a text", { env: [{ name: "A", value: "1000m" }] }, { env: [{ name: "A", value: "1" }] }],
    [false, "a label", { metadata: { labels: { limits: "1000m" } } }, { metadata: { labels: { limits: "1" } } }],
    [true, "an empty value", { env: [{ name: "A", value: "" }] }, { env: [{ name: "A" }] }],
    [false, "a flag that is not there", { automount: false }, {}],
    [true, "a time", { renewTime: "2026-01-01T01:00:00+01:00" }, { renewTime: "2026-01-01T00:00:00.000000Z" }],
  ])("is %p for %s in another spelling", (is, _, desired, live) => {
    expect(has(desired, live)).toBe(is);
    expect(has(desired, live, {}, false)).toBe(false);
  });
});

test("projected keeps what is compared: of maps the desired fields, of lists everything", () => {
  const live = { a: { b: 1, theirs: 2 }, list: [{ x: 1 }, { y: 1 }], status: {} };
  expect(JSON.stringify(projected({ a: { b: 9, c: 1 }, list: [{ x: 1 }] }, live))).toBe(
    '{"a":{"b":1},"list":[{"x":1},{"y":1}]}',
  );
});
