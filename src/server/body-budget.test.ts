import { expect, test } from "bun:test";
import { FakeClock } from "../testing/fake-clock.ts";
import { BodyBudget, type BodyShare } from "./body-budget.ts";

const seed = Number(process.env["BINNACLE_SEED"] ?? 20);

/** Numbers that look random, the same ones for each seed. */
function randomOf(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

test("BodyBudget holds no more than the budget and one body, and somebody always goes on", async () => {
  const random = randomOf(seed);
  const [most, largest] = [100, 60];
  for (let round = 0; round < 200; round++) {
    const clock = new FakeClock();
    const budget = new BodyBudget({ bytes: most, clock });
    /** What each request still has to read. */
    const reading = new Map<BodyShare, number>();
    const stuck = new Set<BodyShare>();
    for (let act = 0; act < 100; act++) {
      const shares = [...reading.keys()].filter((share) => !stuck.has(share));
      const share = shares[random(shares.length)];
      if (share === undefined || random(4) === 0) {
        reading.set(budget.open(), 1 + random(largest));
      } else if (random(5) === 0) {
        share[Symbol.dispose]();
        reading.delete(share);
      } else {
        const left = reading.get(share)!;
        const bytes = Math.min(left, 1 + random(20));
        stuck.add(share);
        void Promise.resolve(share.take(bytes)).then((hasRoom) => {
          stuck.delete(share);
          if (hasRoom) reading.set(share, left - bytes);
        });
      }
      if (random(10) === 0) clock.advance(300);
      await Promise.resolve();
      await Promise.resolve();
      expect(budget.held).toBeLessThanOrEqual(most + largest);
      const [first] = reading.keys();
      if (first !== undefined) expect(stuck.has(first), `seed ${seed}, round ${round}`).toBe(false);
    }
    for (const share of reading.keys()) share[Symbol.dispose]();
    expect(budget.held).toBe(0);
  }
});

test("a body waits a second for room, and gets none after its end", async () => {
  const clock = new FakeClock();
  const budget = new BodyBudget({ bytes: 10, clock });
  const [one, two, three] = [budget.open(), budget.open(), budget.open()];
  expect(one.take(10)).toBe(true);
  const refused = two.take(1);
  clock.advance(999);
  const taken = three.take(1);
  clock.advance(1);
  expect(await refused).toBe(false);
  one[Symbol.dispose]();
  expect(await taken).toBe(true);
  expect(one.take(1)).toBe(false);
  expect(budget.held).toBe(1);
  one[Symbol.dispose]();
  two[Symbol.dispose]();
  three[Symbol.dispose]();
  expect(budget.held).toBe(0);
});

test("claims of small bodies of which little arrives leave room for what does arrive", () => {
  const budget = new BodyBudget({ bytes: 1_000_000 });
  const silent = Array.from({ length: 1_000 }, () => budget.open());
  const claimed = silent.filter((share) => share.claim(64 * 1024));
  expect(claimed).toHaveLength(7);
  for (const share of silent.slice(claimed.length)) expect(share.take(1)).toBe(true);
  const honest = budget.open();
  expect([honest.claim(60_000), honest.take(60_000)]).toEqual([false, true]);
  for (const share of silent) share[Symbol.dispose]();
  expect(budget.open().claim(64 * 1024)).toBe(true);
  expect(budget.open().claim(64 * 1024 + 1)).toBe(false);
});
