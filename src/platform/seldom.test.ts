import { expect, test } from "bun:test";
import { FakeClock } from "../testing/fake-clock.ts";
import { Seldom } from "./seldom.ts";

test("Seldom tells the first of each kind in a minute, and how many others there were", () => {
  const clock = new FakeClock();
  const seldom = new Seldom(clock);
  expect([seldom.next("a"), seldom.next("a"), seldom.next("b"), seldom.next("a")]).toEqual([
    0,
    undefined,
    0,
    undefined,
  ]);
  clock.advance(60_000);
  expect([seldom.next("a"), seldom.next("b")]).toEqual([2, 0]);
  clock.advance(60_000);
  expect(seldom.next("a")).toBe(0);
});
