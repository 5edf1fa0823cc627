import { expect, test } from "bun:test";
import { bucket, exponential, fastSlow, maxOf, withMaxWait, type RateLimiter } from "./rate-limiter.ts";

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

test("WQ-12 fastSlow is slow after its attempts", () => {
  const limiter = fastSlow({ fast: 5, slow: 10_000, attempts: 3 });
  expect(delays(limiter, "one", 5)).toEqual([5, 5, 5, 10_000, 10_000]);
  limiter.forget("one");
  expect(limiter.delay("one")).toBe(5);
});

test("WQ-13 maxOf takes the longest delay", () => {
  const limiter = maxOf(fastSlow({ fast: 5, slow: 3000, attempts: 3 }), exponential(1, 1000));
  expect(delays(limiter, "one", 5)).toEqual([5, 5, 5, 3000, 3000]);
  expect(limiter.failures("one")).toBe(5);
  limiter.forget("one");
  expect(limiter.failures("one")).toBe(0);
});

test("WQ-14 withMaxWait cuts the delay", () => {
  const limiter = withMaxWait(fastSlow({ fast: 1_000_000, slow: 1, attempts: 1 }), 500_000);
  expect(limiter.delay("one")).toBe(500_000);
  expect(limiter.delay("one")).toBe(1);
});

test("bucket spreads keys over time once its burst is used, and fills up again", () => {
  let now = 0;
  const limiter = bucket({ rate: 10, burst: 2, now: () => now });
  expect(delays(limiter, "a", 4)).toEqual([0, 0, 100, 200]);
  now = 10_000;
  expect(delays(limiter, "b", 3)).toEqual([0, 0, 100]);
});

test("bucket counts the failures of each key, for a retry limit", () => {
  const limiter = bucket({ rate: 10, burst: 2, now: () => 0 });
  delays(limiter, "a", 3);
  limiter.delay("b");
  expect([limiter.failures("a"), limiter.failures("b")]).toEqual([3, 1]);
  limiter.forget("a");
  expect([limiter.failures("a"), limiter.failures("b")]).toEqual([0, 1]);
});
