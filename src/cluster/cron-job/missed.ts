/** Finds the run of a CronJob that is due, when earlier ones may have been missed. */
import type { CronJob } from "../../resource/builtin/index.ts";
import type { Schedule } from "./schedule.ts";

/** Clocks of machines differ, so the next check comes a little late rather than too early. */
const SKEW = 100;

/** From this number on, missed runs are reported. */
const MANY = 100;

export interface Due {
  /** No run is due before this time, in milliseconds since the epoch. */
  readonly earliest: number;
  /** The last scheduled time that has passed; `undefined` when there is none since the last run. */
  readonly last: number | undefined;
  readonly missed: "none" | "few" | "many";
}

/** Finds the run that is due. @throws Error when the schedule never matches, as with February 30th. */
export function dueRun(job: CronJob, schedule: Schedule, options: { now: number; deadline: boolean }): Due {
  const { now, deadline } = options;
  const { startingDeadlineSeconds } = job.spec;
  let earliest = Date.parse(job.status?.lastScheduleTime ?? job.metadata.creationTimestamp);
  if (deadline && startingDeadlineSeconds !== undefined) {
    earliest = Math.max(earliest, now - startingDeadlineSeconds * 1000);
  }
  const first = schedule.next(earliest);
  const second = first === undefined ? undefined : schedule.next(first);
  if (first === undefined || second === undefined)
    throw new Error("time difference between two schedules is less than 1 second");
  if (now < first) return { earliest, last: undefined, missed: "none" };
  if (now < second) return { earliest, last: first, missed: "none" };
  const between = second - first;
  const count = Math.floor((now - first) / between) + 1;
  let last: number | undefined;
  // Schedules are not regular, so the search begins one step before the time that a regular schedule would give.
  for (
    let time = schedule.next(first + (count - 2) * between);
    time !== undefined && time <= now;
    time = schedule.next(time)
  ) {
    last = time;
  }
  return { earliest, last, missed: count > MANY ? "many" : "few" };
}

/** Returns the milliseconds until the next look at a CronJob. */
export function untilNext(job: CronJob, schedule: Schedule, now: number): number {
  const from = (): number => {
    try {
      const { earliest, last, missed } = dueRun(job, schedule, { now, deadline: false });
      return last ?? (missed === "none" ? earliest : now);
    } catch {
      return now;
    }
  };
  return Math.max(0, (schedule.next(from()) ?? Infinity) + SKEW - now);
}
