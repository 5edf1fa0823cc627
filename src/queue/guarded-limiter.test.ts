import { expect, test } from "bun:test";
import { FakeClock } from "../testing/fake-clock.ts";
import { GuardedLimiter } from "./guarded-limiter.ts";
import { fastSlow, type RateLimiter } from "./rate-limiter.ts";
import { WorkQueue } from "./work-queue.ts";

function guarded(limiter: Partial<RateLimiter>) {
  const errors: string[] = [];
  const onError = (error: unknown): void => void errors.push(String(error));
  const guard = new GuardedLimiter(limiter as RateLimiter, { invoke: (call) => call(), onError });
  return { guard, errors };
}

const throws = (): never => {
  throw new Error("no limit today");
};

const odd: readonly (readonly [string, Partial<RateLimiter>, string])[] = [
  ["throws", { delay: throws, forget: throws, failures: throws, restore: throws }, "no limit today"],
  ["has no methods", {}, "TypeError"],
  ["returns no numbers", { delay: () => NaN, forget() {}, failures: () => 0 }, "returned NaN"],
];

test.each(odd)("a key backs off as by default when its limiter %s, and that is told once", (_, limiter, message) => {
  const { guard, errors } = guarded(limiter);
  const clock = new FakeClock();
  const queue = new WorkQueue({ name: "test", clock, limiter: guard });
  queue.add("a");
  for (const wait of [5, 10, 20]) {
    const item = queue.take()!;
    expect(item.key).toBe("a");
    queue.add("a", { rateLimited: true });
    queue.done("a");
    clock.advance(wait - 1);
    expect(queue.depth).toBe(0);
    clock.advance(1);
    expect(queue.depth).toBe(1);
  }
  queue.forget("a");
  queue.configure({ limiter: guarded({}).guard });
  expect(errors).toHaveLength(1);
  expect(errors[0]).toContain(message);
});

test("the author's limiter decides where it answers", () => {
  const { guard, errors } = guarded(fastSlow({ fast: 100, slow: 700, attempts: 2 }));
  expect([1, 2, 3].map(() => guard.delay("a"))).toEqual([100, 100, 700]);
  expect(guard.failures("a")).toBe(3);
  guard.forget("a");
  expect(guard.failures("a")).toBe(0);
  guard.restore("a", 2);
  expect([guard.delay("a"), errors]).toEqual([700, []]);
});
