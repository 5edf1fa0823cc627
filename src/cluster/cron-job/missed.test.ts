import { describe, expect, test } from "bun:test";
import type { CronJob } from "../../resource/builtin/index.ts";
import { timestamp } from "../workload/time.ts";
import { TimeZone } from "./local-time.ts";
import { dueRun, untilNext } from "./missed.ts";
import { parseSchedule } from "./schedule.ts";

const utc = new TimeZone("UTC");
const hourly = parseSchedule("0 * * * *", utc);
const now = Date.parse("2024-03-10T10:30:00Z");

function cronJob({ created = "2024-03-10T10:10:00Z", last, deadline }: Times = {}): CronJob {
  const spec = { startingDeadlineSeconds: deadline };
  return { metadata: { creationTimestamp: created }, spec, status: { lastScheduleTime: last } } as unknown as CronJob;
}

interface Times {
  readonly created?: string;
  readonly last?: string;
  readonly deadline?: number;
}

describe("dueRun", () => {
  test.each([
    ["nothing since it was made", {}, undefined, "none"],
    ["one time since it was made", { created: "2024-03-10T09:50:00Z" }, "2024-03-10T10:00:00Z", "none"],
    [
      "nothing since the last run",
      { created: "2020-01-01T00:00:00Z", last: "2024-03-10T10:00:00Z" },
      undefined,
      "none",
    ],
    ["the last of a few", { last: "2024-03-10T05:00:00Z" }, "2024-03-10T10:00:00Z", "few"],
    ["the last of many", { last: "2024-03-01T05:00:00Z" }, "2024-03-10T10:00:00Z", "many"],
    ["none before the deadline", { last: "2024-03-01T05:00:00Z", deadline: 60 }, undefined, "none"],
    ["few within the deadline", { last: "2024-03-01T05:00:00Z", deadline: 7200 }, "2024-03-10T10:00:00Z", "few"],
  ] as const)("%s", (_, times, expected, missed) => {
    const due = dueRun(cronJob(times), hourly, { now, deadline: true });
    expect(due.last === undefined ? undefined : timestamp(due.last)).toBe(expected);
    expect(due.missed).toBe(missed);
  });

  test("refuses a schedule without any time", () => {
    const never = parseSchedule("0 0 30 2 *", utc);
    expect(() => dueRun(cronJob(), never, { now, deadline: true })).toThrow("less than 1 second");
  });
});

describe("untilNext", () => {
  test("is the next time and a little", () => {
    expect(untilNext(cronJob({ last: "2024-03-10T10:00:00Z" }), hourly, now)).toBe(30 * 60_000 + 100);
  });
});
