import { expect, test } from "bun:test";
import { LastErrors } from "./last-errors.ts";

test("LastErrors holds the errors of queued keys, and forgets those of keys that left their queue", () => {
  const queued = new Set<string>();
  const errors = new LastErrors(() => [{ name: "shop", queue: queued }]);
  for (let key = 0; key < 1_000; key++) {
    if (key % 10 === 0) queued.add(`default/${key}`);
    errors.ended("shop", `default/${key}`, "the disk is full");
    errors.ended("gone", `default/${key}`, "its module left");
  }
  expect(errors.size).toBeLessThan(2 * queued.size + 256);
  for (const key of queued) expect(errors.of("shop", key)).toBe("the disk is full");
  errors.ended("shop", "default/0", undefined);
  expect(errors.of("shop", "default/0")).toBeUndefined();
});
