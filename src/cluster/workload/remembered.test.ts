import { expect, test } from "bun:test";
import { Remembered } from "./remembered.ts";

test("Remembered forgets the oldest entry beyond its limit", () => {
  const remembered = new Remembered<number>(2);
  remembered.set("a", 1);
  remembered.set("b", 2);
  remembered.set("a", 3);
  remembered.set("c", 4);
  expect(["a", "b", "c"].map((uid) => remembered.get(uid))).toEqual([3, undefined, 4]);
  remembered.delete("a");
  expect(remembered.get("a")).toBeUndefined();
});
