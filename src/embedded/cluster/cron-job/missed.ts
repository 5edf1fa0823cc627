/** Which run of a CronJob is due, when it may have missed some. */
import type { CronJob } from "../../../resource/builtin/index.ts";
import type { Schedule } from "./schedule.ts";

/** The clocks of machines differ: the next look is a little late rather than too early. */
const SKEW = 100;

/** Runs that were missed in such a number are told of. */
const MANY = 100;

export interface Due {
  /** Before which nothing is asked for; milliseconds since the epoch. */
  readonly earliest: number;
  /** The last time that has come; `undefined` for none since the last run. */
  readonly last: number | undefined;
  readonly missed: "none" | "few" | "many";
}

/** @throws Error when the schedule never comes to a time, such as February 30th. */
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
  // Schedules are not regular: from one before what a regular one would come to.
  for (
    let time = schedule.next(first + (count - 2) * between);
    time !== undefined && time <= now;
    time = schedule.next(time)
  ) {
    last = time;
  }
  return { earliest, last, missed: count > MANY ? "many" : "few" };
}

/** Milliseconds until the next look at a CronJob. */
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
