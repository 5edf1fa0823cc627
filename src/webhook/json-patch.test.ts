import { expect, test } from "bun:test";
import * as fc from "fast-check";
import { applyPatch } from "rfc6902";
import { copyOf } from "../resource/edit.ts";
import { sameJson } from "../resource/json.ts";
import { patchBetween } from "./json-patch.ts";

test("patchBetween gives the fewest operations for usual changes", () => {
  const pod = { metadata: { name: "a" }, spec: { containers: [{ name: "web", image: "web:1" }], note: "x" } };
  const changed = copyOf(pod) as { metadata: object; spec: { containers: object[]; note?: string | undefined } };
  changed.metadata = { name: "a", labels: { team: "web" } };
  changed.spec.containers.unshift({ name: "sidecar", image: "proxy:1" });
  changed.spec.note = undefined;
  expect(patchBetween(pod, changed)).toEqual([
    { op: "add", path: "/metadata/labels", value: { team: "web" } },
    { op: "remove", path: "/spec/note" },
    { op: "add", path: "/spec/containers/0", value: { name: "sidecar", image: "proxy:1" } },
  ]);
  expect(patchBetween(pod, copyOf(pod))).toEqual([]);
  expect(patchBetween({ a: [1] }, { a: [undefined] })).toEqual([{ op: "replace", path: "/a/0", value: null }]);
});

test("patchBetween escapes names, also such as those of labels", () => {
  const before = { labels: { "example.com/a": "1", "a~b": "1" } };
  expect(patchBetween(before, { labels: { "example.com/a": "2", "a~b": "2" } })).toEqual([
    { op: "replace", path: "/labels/example.com~1a", value: "2" },
    { op: "replace", path: "/labels/a~0b", value: "2" },
  ]);
});

test("patchBetween sees fields with the names of what every object answers to", () => {
  expect(patchBetween({ labels: {} }, { labels: { constructor: "a" } })).toEqual([
    { op: "add", path: "/labels/constructor", value: "a" },
  ]);
  expect(patchBetween({ labels: { toString: "a" } }, { labels: {} })).toEqual([
    { op: "remove", path: "/labels/toString" },
  ]);
});

test("patchBetween of lists in lists does not compare every inner list with every other one", () => {
  const rows = Array.from({ length: 100 }, (_, row) => ({
    cells: Array.from({ length: 100 }, (_, cell) => `${row} ${cell}`),
  }));
  const changed = rows.with(99, { cells: rows[99]!.cells.with(99, "changed") });
  expect(patchBetween({ rows }, { rows: changed })).toEqual([
    { op: "replace", path: "/rows/99/cells/99", value: "changed" },
  ]);
});

test("patchBetween of long lists takes neither much time nor much stack", () => {
  const list = Array.from({ length: 50_000 }, (_, index) => `entry ${index}`);
  const one = list.with(40_000, "changed");
  expect(patchBetween({ list }, { list: one })).toEqual([{ op: "replace", path: "/list/40000", value: "changed" }]);
  expect(patchBetween({ list }, { list: list.slice(1) })).toHaveLength(1);
});

test("a patch leads from any JSON object to any other", () => {
  const json = fc.dictionary(fc.string({ maxLength: 4 }), fc.jsonValue({ maxDepth: 4 }), { maxKeys: 5 });
  const isPlain = (value: unknown): boolean => !JSON.stringify(value).includes("__proto__");
  fc.assert(
    fc.property(json.filter(isPlain), json.filter(isPlain), (before, after) => {
      const result = { root: copyOf(before) };
      const patch = patchBetween({ root: before }, { root: after });
      expect(applyPatch(result, [...patch]).filter((error) => error !== null)).toEqual([]);
      expect(sameJson(result.root, after)).toBe(true);
    }),
    { numRuns: 300 },
  );
});
