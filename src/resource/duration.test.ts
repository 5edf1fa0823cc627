import { expect, test } from "bun:test";
import { type Duration, parseDuration } from "./duration.ts";

test("parseDuration gives milliseconds", () => {
  const cases: readonly [Duration, number][] = [
    [0, 0],
    [1500, 1500],
    ["500ms", 500],
    ["30s", 30_000],
    ["10m", 600_000],
    ["1m30s", 90_000],
    ["2h15m", 8_100_000],
    ["1h2m3s", 3_723_000],
    ["1.5h", 5_400_000],
    ["0s", 0],
  ];
  for (const [value, expected] of cases) expect(parseDuration(value, "x")).toBe(expected);
});

test("parseDuration refuses what is no duration, naming the option and the value", () => {
  for (const value of ["10 minutes", "", "5", "1d", "-5s", "1.2.3s", ".s", "30s1m", -1, Number.NaN, Infinity, null]) {
    expect(() => parseDuration(value as Duration, "retry.max")).toThrow("as 'retry.max': a duration is a number of");
  }
  expect(() => parseDuration("10 minutes" as Duration, "requeueAfter")).toThrow(
    "Cannot use \"10 minutes\" as 'requeueAfter'",
  );
});

test("Duration is checked by the compiler", () => {
  // @ts-expect-error words are no units
  const words: Duration = "10 minutes";
  // @ts-expect-error a unit is needed
  const bare: Duration = "10";
  expect([words, bare]).toHaveLength(2);
});
