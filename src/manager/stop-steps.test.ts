import { expect, test } from "bun:test";
import { createLog } from "../observe/log.ts";
import { FakeClock } from "../testing/index.ts";
import { type StopStep, stopInOrder } from "./stop-steps.ts";

/** Stops by a clock that the test advances. */
function stopping(steps: readonly (Partial<StopStep> & Pick<StopStep, "what">)[], grace = 30_000) {
  const clock = new FakeClock();
  const lines: { readonly level: string; readonly msg: string; readonly [field: string]: unknown }[] = [];
  const log = createLog({ level: "info", format: "json", write: (line) => void lines.push(JSON.parse(line)) });
  const all = steps.map((step) => ({ why: "of a test", run: () => undefined, ...step }));
  const stopped = stopInOrder(all, { grace, clock, log });
  return { clock, lines, stopped, said: () => lines.map(({ msg }) => msg) };
}

const never = (): Promise<void> => new Promise(() => {});

test("stopInOrder runs the steps one after the other, and says nothing when they end soon", async () => {
  const ran: string[] = [];
  const { stopped, said } = stopping([
    { what: "a", run: () => Promise.resolve().then(() => void ran.push("a")) },
    { what: "b", run: () => void ran.push("b") },
  ]);
  await stopped;
  expect(ran).toEqual(["a", "b"]);
  expect(said()).toEqual([]);
});

test("stopInOrder says after 2 s what it waits for, and again from time to time", async () => {
  const open = Array.from({ length: 12 }, (_, index) => `v1/Kind${index}`);
  const { clock, lines, stopped } = stopping([{ what: "informers", run: never, open: () => open }]);
  await clock.advanceInTurns(1_999);
  expect(lines).toEqual([]);
  await clock.advanceInTurns(1);
  expect(lines).toMatchObject([
    { level: "info", msg: "Still stopping", waitsFor: "informers", open: [...open.slice(0, 10), "2 more"] },
  ]);
  open.length = 0;
  await clock.advanceInTurns(10_000);
  expect(lines[1]).toMatchObject({ msg: "Still stopping", waitsFor: "informers" });
  expect(lines[1]).not.toHaveProperty("open");
  await clock.advanceInTurns(30_000);
  await stopped;
});

test("stopInOrder gives up a step that does not end when the grace period is over, and the next one gets a moment", async () => {
  const lefts: number[] = [];
  const { clock, said, stopped } = stopping([
    { what: "runs", run: (left) => (lefts.push(left), never()) },
    { what: "election", run: (left) => (lefts.push(left), never()), atLeast: 5_000 },
    { what: "listeners", run: (left) => void lefts.push(left) },
  ]);
  await clock.advanceInTurns(31_000);
  await clock.advanceInTurns(5_000);
  await stopped;
  expect(lefts).toEqual([31_000, 5_000, 1_000]);
  expect(said().filter((msg) => msg.startsWith("Gave up"))).toEqual([
    "Gave up waiting for the end of runs: the grace period is over",
    "Gave up waiting for the end of election: the grace period is over",
  ]);
});

test("stopInOrder begins the grace period after a step that comes before it, of which nothing is said", async () => {
  const lefts: number[] = [];
  const { clock, said, stopped } = stopping(
    [
      { what: "readiness" },
      { what: "delay", run: () => never(), before: 5_000 },
      { what: "runs", run: (left) => void lefts.push(left) },
    ],
    10_000,
  );
  await clock.advanceInTurns(6_000);
  await stopped;
  expect(lefts).toEqual([10_000]);
  expect(said()).toEqual(["Gave up waiting for the end of delay: the grace period is over"]);
});

test("stopInOrder continues after a step that fails", async () => {
  const { stopped, said } = stopping([
    { what: "a", run: () => Promise.reject(new Error("no")) },
    {
      what: "b",
      run: () => {
        throw new Error("neither");
      },
    },
  ]);
  await stopped;
  expect(said()).toEqual(["Cannot stop a", "Cannot stop b"]);
});
