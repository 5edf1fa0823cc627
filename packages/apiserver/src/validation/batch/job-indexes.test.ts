import { expect, test } from "bun:test";
import { countIndexes } from "./job-indexes.ts";

test.each([
  ["", 0],
  ["1,3-5,7", 5],
  ["3,2", "non-increasing order, previous: 3, current: 2"],
  ["5-5", "non-increasing order, previous: 5, current: 5"],
  ["10", 'too large index: "10"'],
  ["a", 'cannot convert string to integer for index: "a"'],
])("countIndexes of %j", (text, expected) => {
  expect(countIndexes(text, 10)).toBe(expected);
});
