// Creates a Job at each time of a schedule. This controller shows work that the clock triggers, an injected clock,
// and a name that makes repeating a step impossible.
import { allow, defineController, type Definition, isAlreadyExists, type Result } from "../../index.ts";
import { CronJob, Job } from "../../resource/builtin/index.ts";
import type { Clock } from "../../platform/clock.ts";
import { byController, isControlledBy } from "../workload/owner.ts";
import { isNamespaceTerminating, serverMessage } from "../workload/pod-control.ts";
import { Remembered } from "../workload/remembered.ts";
import { runIn, timestamp } from "../workload/time.ts";
import { deleteJob, jobFor, jobName, referenceTo, removeOld } from "./child-jobs.ts";
import { TimeZone } from "./local-time.ts";
import { dueRun, untilNext } from "./missed.ts";
import { parseSchedule, type Schedule } from "./schedule.ts";
import { type CronRun, deactivate, isActive, statusOf, takeStock, writeStatus } from "./stock.ts";

/** @see https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/ */
export function cronJobController(clock: Clock): Definition {
  // The schedule at the last run, by UID. A schedule that has just changed starts nothing before its next time.
  const schedules = new Remembered<string>();
  return defineController({
    name: "cronjob-controller",
    for: CronJob,
    owns: [Job],
    reads: [Job],
    uses: [allow(Job, "create", "delete"), allow(CronJob, "status/update")],
    async reconcile(cronJob, { client, events }) {
      const { uid, namespace } = cronJob.metadata;
      const run: CronRun = { client, events, now: clock.now(), status: statusOf(cronJob) };
      const text = `${cronJob.spec.timeZone} ${cronJob.spec.schedule}`;
      const isChanged = (schedules.get(uid) ?? text) !== text;
      schedules.set(uid, text);
      try {
        const jobs = await client.list(Job, { namespace, index: byController(Job).is(uid) });
        for (const { metadata } of await removeOld(cronJob, jobs, run)) deactivate(run, metadata.uid);
        await takeStock(cronJob, jobs, run);
        const schedule = scheduleOf(cronJob, run);
        if (schedule === undefined) return undefined;
        if (isChanged) return runIn(untilNext(cronJob, schedule, run.now));
        return await startDue(cronJob, schedule, run);
      } finally {
        await writeStatus(cronJob, run);
      }
    },
  });
}

/** Parses the schedule; `undefined` when nothing may start until the CronJob changes. */
function scheduleOf({ spec }: CronJob, { events }: CronRun): Schedule | undefined {
  let zone: TimeZone;
  try {
    zone = new TimeZone(spec.timeZone);
  } catch (error) {
    events.warning("UnknownTimeZone", `invalid timeZone: ${JSON.stringify(spec.timeZone)}: ${String(error)}`);
    return undefined;
  }
  if (spec.suspend === true) return undefined;
  if (spec.schedule.includes("TZ")) {
    const where = "https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/";
    const what = `CRON_TZ or TZ used in schedule ${JSON.stringify(spec.schedule)} is not officially supported`;
    events.warning("UnsupportedSchedule", `${what}, see ${where} for more details`);
  }
  try {
    return parseSchedule(spec.schedule, zone);
  } catch (error) {
    const what = `unparseable schedule: ${JSON.stringify(spec.schedule)}`;
    events.warning("UnparseableSchedule", `${what} : ${serverMessage(error)}`);
    return undefined;
  }
}

/** Starts the run that is due, if the concurrency policy allows it. */
async function startDue(cronJob: CronJob, schedule: Schedule, run: CronRun): Promise<Result | undefined> {
  const { events, now, status } = run;
  const later = () => {
    const { active, lastScheduleTime } = status;
    const current = { ...cronJob, status: { ...cronJob.status, active, lastScheduleTime } };
    return runIn(untilNext(current, schedule, now));
  };
  let time: number | undefined;
  try {
    const { last, missed } = dueRun(cronJob, schedule, { now, deadline: true });
    time = last;
    if (last !== undefined && missed === "many") {
      const advice = "Set or decrease .spec.startingDeadlineSeconds or check clock skew";
      events.warning("TooManyMissedTimes", `too many missed start times. ${advice}`);
    }
  } catch (error) {
    events.warning("InvalidSchedule", `invalid schedule: ${cronJob.spec.schedule} : ${serverMessage(error)}`);
    return undefined;
  }
  if (time === undefined) return later();
  const { concurrencyPolicy, startingDeadlineSeconds } = cronJob.spec;
  if (startingDeadlineSeconds !== undefined && time + startingDeadlineSeconds * 1000 < now) {
    const when = new Date(time).toUTCString().replace("GMT", "+0000");
    events.warning("MissSchedule", `Missed scheduled time to start a job: ${when}`);
    return later();
  }
  const name = jobName(cronJob, time);
  const isStarted = status.lastScheduleTime !== undefined && Date.parse(status.lastScheduleTime) === time;
  if (isStarted || status.active.some((one) => one.name === name)) return later();
  if (concurrencyPolicy === "Forbid" && status.active.length > 0) {
    const why = "prior execution is running and concurrency policy is Forbid";
    events.normal("JobAlreadyActive", `Not starting job because ${why}`);
    return later();
  }
  if (concurrencyPolicy === "Replace") await removeActive(cronJob, run);
  if (!(await start(cronJob, time, run))) return undefined;
  return later();
}

/** Deletes the Jobs that are running. @throws when one cannot be deleted. */
async function removeActive({ metadata: { namespace } }: CronJob, run: CronRun): Promise<void> {
  for (const { name = "", uid } of run.status.active) {
    const job = await run.client.get(Job, { name, namespace });
    if (!(await deleteJob(job, run))) throw new Error(`Cannot replace Job ${namespace}/${name}`);
    deactivate(run, uid);
  }
}

/** Creates the Job, or finds the one of an earlier run whose status was lost. @returns whether a new run has begun. */
async function start(cronJob: CronJob, time: number, run: CronRun): Promise<boolean> {
  const { client, events, status } = run;
  const wanted = jobFor(cronJob, time);
  let job: Job;
  try {
    job = await client.create(Job, wanted);
    events.normal("SuccessfulCreate", `Created job ${job.metadata.name}`);
  } catch (error) {
    if (!isAlreadyExists(error)) {
      if (!isNamespaceTerminating(error)) {
        events.warning("FailedCreate", `Error creating job: ${serverMessage(error)}`);
      }
      throw error;
    }
    const { name, namespace = "" } = wanted.metadata;
    job = await client.live.get(Job, { name, namespace });
    if (!isControlledBy(job, cronJob) || isActive(run, job)) return false;
  }
  status.active = [...status.active, referenceTo(job)];
  status.lastScheduleTime = timestamp(time);
  status.isDirty = true;
  return true;
}
