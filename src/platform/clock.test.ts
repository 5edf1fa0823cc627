import { expect, test } from "bun:test";
import { sleep, systemClock } from "./clock.ts";
import { FakeClock } from "../testing/fake-clock.ts";

test("systemClock calls back once, and not after it was disposed", async () => {
  let calls = 0;
  systemClock.setTimeout(() => calls++, 5);
  systemClock.setTimeout(() => calls++, 5)[Symbol.dispose]();
  await Bun.sleep(20);
  expect(calls).toBe(1);
});

test("systemClock does not fire at once when the delay is longer than a timer takes", async () => {
  let fired = false;
  using _timer = systemClock.setTimeout(() => (fired = true), 2 ** 31 + 10);
  await Bun.sleep(20);
  expect(fired).toBe(false);
});

test("systemClock calls back soon, and without a warning, when the time is over already", async () => {
  const warnings: string[] = [];
  const listen = ({ name }: Error): void => void warnings.push(name);
  process.on("warning", listen);
  const { promise, resolve } = Promise.withResolvers<void>();
  systemClock.setTimeout(resolve, -1.5);
  await promise;
  await Bun.sleep(1);
  process.off("warning", listen);
  expect(warnings).toEqual([]);
});

test("sleep resolves after its time and not before", async () => {
  const clock = new FakeClock();
  let done = false;
  void sleep(1_000, { clock }).then(() => (done = true));
  await clock.advanceInTurns(999);
  expect(done).toBe(false);
  await clock.advanceInTurns(1);
  expect(done).toBe(true);
});

test("sleep rejects with the signal's reason and leaves no timer", async () => {
  const clock = new FakeClock();
  const controller = new AbortController();
  const sleeping = sleep(1_000, { clock, signal: controller.signal });
  controller.abort(new Error("enough"));
  expect(sleeping).rejects.toThrow("enough");
  expect(clock.timers).toBe(0);
  expect(sleep(1, { clock, signal: controller.signal })).rejects.toThrow("enough");
});

test("sleep leaves no listener on the signal", async () => {
  const clock = new FakeClock();
  const { signal } = new AbortController();
  let listeners = 0;
  const add = signal.addEventListener.bind(signal);
  const remove = signal.removeEventListener.bind(signal);
  signal.addEventListener = (...args: Parameters<typeof add>) => (listeners++, add(...args));
  signal.removeEventListener = (...args: Parameters<typeof remove>) => (listeners--, remove(...args));
  const sleeping = sleep(10, { clock, signal });
  expect(listeners).toBe(1);
  await clock.advanceInTurns(10);
  await sleeping;
  expect(listeners).toBe(0);
});
