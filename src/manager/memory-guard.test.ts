import { expect, test } from "bun:test";
import { createLog } from "../observe/log.ts";
import { createMetrics } from "../observe/metrics.ts";
import { HealthChecks } from "../server/health-checks.ts";
import { FakeClock } from "../testing/fake-clock.ts";
import { MemoryGuard } from "./memory-guard.ts";

const MIB = 2 ** 20;

/** A guard of a process of whose memory `garbage` can be freed. */
function setUp({ limit = 128, used = 40 } = {}) {
  const memory = { used, garbage: 0 };
  const lines: string[] = [];
  const clock = new FakeClock();
  const metrics = createMetrics();
  const readyz = new HealthChecks();
  const guard = new MemoryGuard({
    limit: { bytes: limit * MIB, source: "memory.max", used: () => (memory.used + memory.garbage) * MIB },
    log: createLog({ level: "info", format: "json", write: (line) => void lines.push(line) }),
    collect: () => (memory.garbage = 0),
    clock,
  });
  guard.show({ metrics, health: { readyz }, informers: { all: () => [] } });
  const metric = async (name: string): Promise<number> => {
    const line = (await metrics.text()).body.split("\n").find((one) => one.startsWith(`${name} `));
    return Number(line?.split(" ")[1]);
  };
  const log = (): readonly { level: string; msg: string }[] => lines.map((line) => JSON.parse(line));
  return { memory, clock, guard, readyz, metric, log };
}

test("MemoryGuard leaves a process alone that has enough", async () => {
  const { memory, clock, guard, metric, log } = setUp();
  memory.garbage = 50;
  clock.advance(5_000);
  expect(guard.make()).toBeUndefined();
  expect([await metric("binnacle_memory_collections_total"), memory.garbage]).toEqual([0, 50]);
  expect(await metric("binnacle_memory_used_bytes")).toBe(90 * MIB);
  expect(await metric("binnacle_memory_limit_bytes")).toBe(128 * MIB);
  expect(log()).toEqual([]);
});

test("MemoryGuard collects garbage near the limit, and again only when memory has grown", async () => {
  const { memory, clock, metric } = setUp({ used: 90 });
  memory.garbage = 10;
  clock.advance(1_000);
  expect([await metric("binnacle_memory_collections_total"), memory.garbage]).toEqual([1, 0]);
  memory.used = 97;
  clock.advance(1_000);
  expect(await metric("binnacle_memory_collections_total")).toBe(2);
  clock.advance(60_000);
  expect(await metric("binnacle_memory_collections_total")).toBe(2);
});

test("MemoryGuard warns once for each crossing, with figures", async () => {
  const { memory, clock, readyz, metric, log } = setUp();
  const note = () =>
    readyz
      .notes()
      .find(([name]) => name === "memory")![1]();
  memory.used = 116;
  clock.advance(1_000);
  memory.used = 112; // above the mark below which it warns again
  clock.advance(1_000);
  memory.used = 120;
  clock.advance(1_000);
  expect(log()).toMatchObject([{ level: "warn", limit: "128 MiB", used: "116 MiB" }]);
  expect(note()).toMatchObject({ text: "nearly used up: 120 MiB of 128 MiB" });
  memory.used = 90;
  clock.advance(1_000);
  expect(note()).toBeUndefined();
  memory.used = 126;
  clock.advance(1_000);
  expect(log().map(({ level }) => level)).toEqual(["warn", "info", "warn"]);
  expect(await metric("binnacle_memory_warnings_total")).toBe(2);
});

test("MemoryGuard lets a list wait for room, but not for ever", async () => {
  const { memory, clock, guard } = setUp();
  memory.used = 118;
  const first = guard.make();
  memory.used = 100;
  await clock.advanceInTurns(50);
  await first;
  memory.used = 120;
  const second = guard.make();
  for (let pauses = 0; pauses < 10; pauses++) await clock.advanceInTurns(50);
  await second;
  const stopped = guard.make(AbortSignal.abort(new Error("stopped")));
  await expect(stopped).rejects.toThrow("stopped");
});

test("MemoryGuard says at once that a limit is too low", () => {
  const { log } = setUp({ limit: 48 });
  expect(log()).toMatchObject([{ level: "error", limit: "48 MiB", needed: "64 MiB", from: "memory.max" }]);
});

test("MemoryGuard gives lists less where the limit is low, and no less than usual where it is high", () => {
  const { guard: low } = setUp({ limit: 96 });
  expect([low.pageBytes, low.answerBytes, low.lists]).toEqual([1.5 * MIB, 12 * MIB, 1]);
  const { guard: high } = setUp({ limit: 2_048 });
  expect([high.pageBytes, high.lists]).toEqual([16 * MIB, 4]);
});
