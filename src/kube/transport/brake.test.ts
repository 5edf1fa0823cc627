import { expect, test } from "bun:test";
import { FakeClock } from "../../testing/fake-clock.ts";
import { Brake } from "./brake.ts";

const POD = "/api/v1/namespaces/default/pods/a/status";

/** Counts how many of so many requests may go within a time. */
async function gone(brake: Brake, clock: FakeClock, options: { path: string; requests: number; ms: number }) {
  let count = 0;
  for (let request = 0; request < options.requests; request++) {
    void brake.enter(options.path, undefined).then(() => count++);
  }
  await clock.advanceInTurns(options.ms);
  return count;
}

test("Brake lets a healthy resource, and the first three failures, go at once", async () => {
  const clock = new FakeClock();
  const brake = new Brake(clock);
  expect(brake.isOn).toBe(false);
  brake.failed(POD);
  brake.failed(POD);
  expect(await gone(brake, clock, { path: POD, requests: 10, ms: 0 })).toBe(10);
});

test("Brake lets three requests a second go while a resource fails, whichever object they are about", async () => {
  const clock = new FakeClock();
  const brake = new Brake(clock);
  for (let failure = 0; failure < 3; failure++) brake.failed(POD);
  expect(await gone(brake, clock, { path: "/api/v1/pods", requests: 50, ms: 5_000 })).toBe(14); // and the three that failed
  expect(await gone(brake, clock, { path: "/apis/apps/v1/namespaces/default/pods/a", requests: 50, ms: 0 })).toBe(50);
});

test("Brake counts what was under way when the refusals began, and what follows waits for it", async () => {
  const clock = new FakeClock();
  const brake = new Brake(clock);
  for (let failure = 0; failure < 8; failure++) brake.failed(POD);
  const going = { path: POD, requests: 1, ms: 2_399 };
  expect(await gone(brake, clock, going)).toBe(0);
  // Those that had their turn cost nothing more when they fail.
  await clock.advanceInTurns(1);
  brake.failed(POD);
  expect(await gone(brake, clock, { ...going, ms: 300 })).toBe(1);
  // Nobody waits for very many.
  for (let failure = 0; failure < 100; failure++) brake.failed(POD);
  expect(await gone(brake, clock, { ...going, ms: 2_400 })).toBe(1);
});

test("Brake lets all go at the first success", async () => {
  const clock = new FakeClock();
  const brake = new Brake(clock);
  for (let failure = 0; failure < 5; failure++) brake.failed(POD);
  const waiting = gone(brake, clock, { path: POD, requests: 50, ms: 0 });
  brake.succeeded("/api/v1/namespaces/other/pods/b");
  expect(await waiting).toBe(50);
  expect(brake.isOn).toBe(false);
  expect(clock.timers).toBe(0);
});

test("Brake gives up with the signal's reason, and leaves no timer", async () => {
  const clock = new FakeClock();
  const brake = new Brake(clock);
  for (let failure = 0; failure < 3; failure++) brake.failed(POD);
  const gaveUp = new AbortController();
  const waiting = brake.enter(POD, gaveUp.signal);
  gaveUp.abort(new Error("enough"));
  await expect(waiting).rejects.toThrow("enough");
  expect(clock.timers).toBe(0);
});
