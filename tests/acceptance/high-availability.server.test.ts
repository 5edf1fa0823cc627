/**
 * Tests two replicas under load and faults, judged by the server's own history; `bun tests/ha/ha.ts` does it for
 * ten minutes. `HA_SECONDS` and `HA_SEED` change it.
 */
import { describe, expect, test } from "bun:test";
import { highAvailability } from "../ha/ha.ts";
import type { HaReport } from "../ha/report.ts";
import { table } from "../ha/report.ts";
import { available } from "../support/cluster.ts";

const seconds = Number(process.env["HA_SECONDS"] ?? 40);
const seed = Number(process.env["HA_SEED"] ?? 1);
/** This is far less than a Lease lasts, and far more than a hand-over takes, as the table shows. */
const HANDED_OVER_WITHIN = 12_000;

function takeovers({ takeovers }: HaReport, kind: string): readonly number[] {
  return takeovers.filter(({ fault }) => fault.kind === kind && fault.leader).map(({ ms = Infinity }) => ms);
}

function expectNoHarm(report: HaReport): void {
  expect(report.writes).toBeGreaterThan(100);
  expect(report.runs).toBeGreaterThan(50);
  expect(report.violations).toEqual([]);
  expect(report.twoRuns).toEqual([]);
  expect(report.exits).toBe(0);
  expect(report.unsettled).toBeUndefined();
}

describe.skipIf(!available)("high availability", () => {
  test(
    `${seconds} s of faults: nobody writes without the Lease, no key is run twice at once, and another takes over`,
    async () => {
      console.log(`seed ${seed}`);
      const report = await highAvailability({ seconds, seed });
      console.log(table(report));
      expectNoHarm(report);
      for (const ms of takeovers(report, "kill -9")) expect(ms).toBeLessThan(40_000);
      for (const ms of takeovers(report, "SIGTERM")) expect(ms).toBeLessThan(HANDED_OVER_WITHIN);
    },
    (seconds + 300) * 1_000,
  );

  test("one replica after the other is replaced: work goes on at once, and no key is run twice at once", async () => {
    const first = ["SIGTERM", "SIGTERM", "SIGTERM"];
    const report = await highAvailability({ seconds: 300, seed, first, only: true, rate: 30 });
    console.log(table(report));
    expectNoHarm(report);
    expect(report.takeovers).toHaveLength(3);
    for (const { silence } of report.takeovers) expect(silence).toBeLessThan(HANDED_OVER_WITHIN);
    for (const ms of takeovers(report, "SIGTERM")) expect(ms).toBeLessThan(HANDED_OVER_WITHIN);
  }, 400_000);
});
