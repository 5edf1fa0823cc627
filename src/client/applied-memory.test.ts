import { expect, test } from "bun:test";
import { AppliedMemory } from "./applied-memory.ts";

test("isFight counts the applies of one content within a minute, and tells of the tenth", () => {
  const memory = new AppliedMemory();
  const told = Array.from({ length: 12 }, (_, time) => memory.isFight("a", { data: { b: "c" } }, time * 5_000));
  expect(told.flatMap((isFight, index) => (isFight ? [index + 1] : []))).toEqual([10]);
});

test("isFight begins anew with another content, and after a minute", () => {
  const memory = new AppliedMemory();
  const among = (contents: readonly string[], step: number): number =>
    contents.filter((content, index) => memory.isFight(`${step}`, { content }, index * step)).length;
  expect(
    among(
      Array.from({ length: 40 }, (_, index) => `${index % 2}`),
      100,
    ),
  ).toBe(0);
  expect(
    among(
      Array.from({ length: 40 }, () => "same"),
      7_000,
    ),
  ).toBe(0);
  expect(among([...Array.from({ length: 5 }, () => "first"), ...Array.from({ length: 10 }, () => "second")], 200)).toBe(
    1,
  );
});
