import { expect, test } from "bun:test";
import { revisionAfter } from "./history.ts";

test("revisionAfter is the next number, and a larger one where JavaScript has no next number", () => {
  expect([0, 1, 41].map(revisionAfter)).toEqual([1, 2, 42]);
  for (const last of [2 ** 53 - 1, 2 ** 53, 3_546_343_826_724_305_832, 2 ** 62])
    expect(revisionAfter(last)).toBeGreaterThan(last);
});
