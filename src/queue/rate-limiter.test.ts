import { expect, test } from "bun:test";
import { exponential, type RateLimiter } from "./rate-limiter.ts";

function delays(limiter: RateLimiter, key: string, count: number): number[] {
  return Array.from({ length: count }, () => limiter.delay(key));
}

test("WQ-10 exponential doubles per key, and forgets", () => {
  const limiter = exponential(1, 1000);
  expect(delays(limiter, "one", 5)).toEqual([1, 2, 4, 8, 16]);
  expect(limiter.failures("one")).toBe(5);
  expect(delays(limiter, "two", 2)).toEqual([1, 2]);
  limiter.forget("one");
  expect(limiter.failures("one")).toBe(0);
  expect(limiter.delay("one")).toBe(1);
});

test("WQ-11 exponential stays at its maximum and does not overflow", () => {
  const limiter = exponential(1, 1_000_000);
  delays(limiter, "one", 5);
  expect(limiter.delay("one")).toBe(32);
  delays(limiter, "one", 2000);
  expect(limiter.delay("one")).toBe(1_000_000);
});
