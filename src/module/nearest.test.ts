import { expect, test } from "bun:test";
import { nearest } from "./nearest.ts";

test.each([
  ["reconsile", "reconcile"],
  ["cnotrollers", "controllers"],
  ["Controllers", "controllers"],
  ["x", undefined],
  ["completely-different", undefined],
] as const)("nearest to %s is %s", (name, expected) => {
  expect(nearest(name, ["reconcile", "controllers", "concurrency"])).toBe(expected as never);
});
