/** What `deepEquals` guarantees; the suite runs this on each runtime. */
import { expect, test } from "bun:test";
import { deepEquals } from "#platform/equality";

const same: readonly (readonly [unknown, unknown])[] = [
  [
    { a: 1, b: [1, { c: "x" }] },
    { b: [1, { c: "x" }], a: 1 },
  ],
  [{ a: undefined }, {}],
  [{}, { a: undefined }],
  [NaN, NaN],
  [[], []],
  [null, null],
];
const other: readonly (readonly [unknown, unknown])[] = [
  [{ a: 1 }, { a: 2 }],
  [{ a: 1 }, { b: 1 }],
  [{ a: null }, {}],
  [{ a: undefined, b: 1 }, { c: 1 }],
  [
    [1, 2],
    [2, 1],
  ],
  [[1], [1, 1]],
  [[], {}],
  [0, ""],
  [{ toString: undefined }, { valueOf: 1 }],
  [{ constructor: Object }, {}],
];
test("compares JSON, and a property that is undefined counts as absent", () => {
  expect(same.filter(([one, another]) => !deepEquals(one, another))).toEqual([]);
  expect(other.filter(([one, another]) => deepEquals(one, another))).toEqual([]);
});
