import { expect, test } from "bun:test";
import { FakeClock } from "../../testing/fake-clock.ts";
import { Deadlines } from "./deadlines.ts";

function start() {
  const clock = new FakeClock();
  const deadlines = new Deadlines(clock);
  const expired: string[] = [];
  const item = (name: string, also?: () => void) => ({
    expire: () => {
      expired.push(name);
      also?.();
    },
  });
  return { clock, deadlines, expired, item };
}

test("Deadlines expires each at its time, with one timer for those that take equally long", () => {
  const { clock, deadlines, expired, item } = start();
  deadlines.add(item("a"), 1_000);
  clock.advance(400);
  deadlines.add(item("b"), 1_000);
  deadlines.add(item("short"), 100);
  expect(clock.timers).toBe(2);
  clock.advance(100);
  expect(expired).toEqual(["short"]);
  clock.advance(500);
  expect(expired).toEqual(["short", "a"]);
  clock.advance(399);
  expect(expired).toHaveLength(2);
  clock.advance(1);
  expect(expired).toEqual(["short", "a", "b"]);
  expect(clock.timers).toBe(0);
});

test("Deadlines forgets what was answered, and keeps no timer when nothing is left", () => {
  const { clock, deadlines, expired, item } = start();
  const [a, b] = [item("a"), item("b")];
  deadlines.add(a, 1_000);
  clock.advance(10);
  deadlines.add(b, 1_000);
  deadlines.delete(a, 1_000);
  clock.advance(990);
  expect([expired, clock.timers]).toEqual([[], 1]);
  deadlines.delete(b, 1_000);
  deadlines.delete(b, 5);
  clock.advance(10);
  expect([expired, clock.timers]).toEqual([[], 0]);
  deadlines.add(b, 1_000);
  clock.advance(1_000);
  expect(expired).toEqual(["b"]);
});

test("Deadlines one that begins while another ends is in time, and close ends all", () => {
  const { clock, deadlines, expired, item } = start();
  deadlines.add(
    item("a", () => deadlines.add(item("next"), 1_000)),
    1_000,
  );
  clock.advance(1_000);
  expect(clock.timers).toBe(1);
  clock.advance(1_000);
  expect(expired).toEqual(["a", "next"]);
  deadlines.add(item("never"), 1_000);
  deadlines.close();
  expect(clock.timers).toBe(0);
});
