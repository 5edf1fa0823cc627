import { expect, test } from "bun:test";
import { readableAge, readableMillis, readableSize } from "./readable-units.ts";

test("durations and sizes have at most two units", () => {
  expect([0, 850, 1_000, 12_345, 60_000, 330_000, 11_100_000, 360_000_000].map(readableAge)).toEqual([
    "0ms",
    "850ms",
    "1s",
    "12s",
    "1m",
    "5m30s",
    "3h5m",
    "4d4h",
  ]);
  expect([0.84, 25.4, 64_000].map(readableMillis)).toEqual(["0.8 ms", "25 ms", "1m4s"]);
  expect([512, 3_500, 12_582_912, 5 * 2 ** 40].map(readableSize)).toEqual(["512 B", "3.4 KiB", "12 MiB", "5120 GiB"]);
});
