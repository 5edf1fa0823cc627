import { expect, test } from "bun:test";
import { age, humanDuration } from "./age.ts";

test("humanDuration uses the two units that kubectl uses", () => {
  const second = 1000;
  const day = 86_400 * second;
  const shown: [number, string][] = [
    [0, "0s"],
    [119 * second, "119s"],
    [121 * second, "2m1s"],
    [20 * 60 * second, "20m"],
    [200 * 60 * second, "3h20m"],
    [30 * 3600 * second, "30h"],
    [3 * day, "3d"],
    [3 * day + 7_200_000, "3d2h"],
    [400 * day, "400d"],
    [800 * day, "2y70d"],
    [4000 * day, "10y"],
    [-5 * second, "<invalid>"],
  ];
  for (const [milliseconds, text] of shown) expect(humanDuration(milliseconds)).toBe(text);
});

test("age of no time is unknown", () => {
  expect(age(undefined, 0)).toBe("<unknown>");
  expect(age("1970-01-01T00:00:00Z", 5000)).toBe("5s");
});
