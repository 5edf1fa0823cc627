import { expect, test } from "bun:test";
import { FakeClock } from "../../testing/fake-clock.ts";
import { FailureThrottle } from "./failure-throttle.ts";

const POD = "/api/v1/namespaces/default/pods/a/status";

/** Counts how many of so many requests may go within a time. */
async function gone(
  throttle: FailureThrottle,
  clock: FakeClock,
  options: { path: string; requests: number; ms: number },
) {
  let count = 0;
  for (let request = 0; request < options.requests; request++) {
    void throttle.wait(options.path, undefined).then(() => count++);
  }
  await clock.advanceInTurns(options.ms);
  return count;
}

test("FailureThrottle lets a healthy resource, and the first three failures, go at once", async () => {
  const clock = new FakeClock();
  const throttle = new FailureThrottle(clock);
  expect(throttle.isActive).toBe(false);
  throttle.failed(POD);
  throttle.failed(POD);
  expect(await gone(throttle, clock, { path: POD, requests: 10, ms: 0 })).toBe(10);
});

test("FailureThrottle lets three requests a second go while a resource fails, whichever object they are about", async () => {
  const clock = new FakeClock();
  const throttle = new FailureThrottle(clock);
  for (let failure = 0; failure < 3; failure++) throttle.failed(POD);
  expect(await gone(throttle, clock, { path: "/api/v1/pods", requests: 50, ms: 5_000 })).toBe(14); // and the three that failed
  expect(await gone(throttle, clock, { path: "/apis/apps/v1/namespaces/default/pods/a", requests: 50, ms: 0 })).toBe(
    50,
  );
});

test("FailureThrottle counts what was under way when the refusals began, and what follows waits for it", async () => {
  const clock = new FakeClock();
  const throttle = new FailureThrottle(clock);
  for (let failure = 0; failure < 8; failure++) throttle.failed(POD);
  const going = { path: POD, requests: 1, ms: 2_399 };
  expect(await gone(throttle, clock, going)).toBe(0);
  // Those that had their turn cost nothing more when they fail.
  await clock.advanceInTurns(1);
  throttle.failed(POD);
  expect(await gone(throttle, clock, { ...going, ms: 300 })).toBe(1);
  // Nobody waits for very many.
  for (let failure = 0; failure < 100; failure++) throttle.failed(POD);
  expect(await gone(throttle, clock, { ...going, ms: 2_400 })).toBe(1);
});

test("FailureThrottle lets all go at the first success", async () => {
  const clock = new FakeClock();
  const throttle = new FailureThrottle(clock);
  for (let failure = 0; failure < 5; failure++) throttle.failed(POD);
  const waiting = gone(throttle, clock, { path: POD, requests: 50, ms: 0 });
  throttle.succeeded("/api/v1/namespaces/other/pods/b");
  expect(await waiting).toBe(50);
  expect(throttle.isActive).toBe(false);
  expect(clock.timers).toBe(0);
});

test("FailureThrottle gives up with the signal's reason, and leaves no timer", async () => {
  const clock = new FakeClock();
  const throttle = new FailureThrottle(clock);
  for (let failure = 0; failure < 3; failure++) throttle.failed(POD);
  const gaveUp = new AbortController();
  const waiting = throttle.wait(POD, gaveUp.signal);
  gaveUp.abort(new Error("enough"));
  await expect(waiting).rejects.toThrow("enough");
  expect(clock.timers).toBe(0);
});
