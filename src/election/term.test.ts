import { expect, test } from "bun:test";
import { FakeClock } from "../testing/fake-clock.ts";
import { momentOf, Term } from "./term.ts";

function setUp() {
  const steady = new FakeClock();
  const wall = new FakeClock();
  const ends: string[] = [];
  const clocks = { steady, wall };
  const term = new Term({ clocks, duration: 10_000, since: momentOf(clocks), onEnd: (reason) => ends.push(reason) });
  const pass = (ms: number): void => {
    steady.advance(ms);
    wall.advance(ms);
  };
  return { steady, wall, clocks, term, ends, pass };
}

test("Term lasts for its duration after the last renewal began", () => {
  const { clocks, term, pass } = setUp();
  pass(9_000);
  const since = momentOf(clocks);
  pass(900);
  expect(term.renew(since)).toBe(true);
  expect(term.remaining).toBe(9_100);
});

test("Term is over without a timer, and is told once before the caller goes on", () => {
  const { term, ends, pass } = setUp();
  pass(10_000);
  expect(term.ended).toBe("the Lease was not renewed within 10s");
  expect(ends).toHaveLength(1);
  expect(term.ended).toBeDefined();
  expect(ends).toHaveLength(1);
});

test("Term counts the time that a machine slept, which its steady clock does not", () => {
  const { term, wall } = setUp();
  wall.advance(3_600_000);
  expect(term.ended).toBeDefined();
});

test("Term is not made longer by setting the time of day back", () => {
  const { clocks, term, steady } = setUp();
  Object.assign(clocks, { wall: { now: () => 0 } });
  steady.advance(10_000);
  expect(term.ended).toBeDefined();
});

test("Term that is over does not begin again with a late renewal", () => {
  const { clocks, term, pass } = setUp();
  const since = momentOf(clocks);
  pass(10_001);
  expect(term.renew(since)).toBe(false);
  expect(term.renew(momentOf(clocks))).toBe(false);
});
