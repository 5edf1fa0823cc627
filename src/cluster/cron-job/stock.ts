/** Compares the Jobs in the status of a CronJob with those that exist. */
import type { Client, RunEvents } from "../../index.ts";
import { CronJob, Job, type ObjectReference } from "../../resource/builtin/index.ts";
import { ending } from "../job/conditions.ts";

/** One run of a CronJob. */
export interface CronRun {
  readonly client: Client;
  readonly events: RunEvents;
  /** Milliseconds since the epoch. */
  readonly now: number;
  readonly status: CronStatus;
}

interface CronStatus {
  active: readonly ObjectReference[];
  lastScheduleTime: string | undefined;
  lastSuccessfulTime: string | undefined;
  isDirty: boolean;
}

export function statusOf({ status: { active = [], lastScheduleTime, lastSuccessfulTime } = {} }: CronJob): CronStatus {
  return { active, lastScheduleTime, lastSuccessfulTime, isDirty: false };
}

/** Writes the whole status, including the fields that others have written into it. */
export async function writeStatus(cronJob: CronJob, { client, status }: CronRun): Promise<void> {
  const { active, lastScheduleTime, lastSuccessfulTime, isDirty } = status;
  if (!isDirty) return;
  const { name, namespace } = cronJob.metadata;
  const body = { active: active.length > 0 ? active : undefined, lastScheduleTime, lastSuccessfulTime };
  await client.subresource("status").update(CronJob, { name, namespace }, { ...cronJob, status: body });
}

export function isActive({ status }: CronRun, { metadata }: Job): boolean {
  return status.active.some(({ uid }) => uid === metadata.uid);
}

export function deactivate({ status }: CronRun, uid: string | undefined): void {
  status.active = status.active.filter((one) => one.uid !== uid);
  status.isDirty = true;
}

/** Compares the status with the Jobs that exist, and removes from it those that have ended. */
export async function takeStock(cronJob: CronJob, jobs: readonly Job[], run: CronRun): Promise<void> {
  const { events, status } = run;
  for (const job of jobs) {
    const { uid, name } = job.metadata;
    const end = ending(job);
    if (end === undefined) {
      if (!isActive(run, job)) {
        events.warning("UnexpectedJob", `Saw a job that the controller did not create or forgot: ${name}`);
      }
      continue;
    }
    if (isActive(run, job)) {
      deactivate(run, uid);
      events.normal("SawCompletedJob", `Saw completed job: ${name}, condition: ${end.type}`);
    }
    const { completionTime } = job.status ?? {};
    if (end.type !== "Complete" || completionTime === undefined) continue;
    if (status.lastSuccessfulTime === undefined || Date.parse(completionTime) > Date.parse(status.lastSuccessfulTime)) {
      status.lastSuccessfulTime = completionTime;
      status.isDirty = true;
    }
  }
  const present = new Set(jobs.map(({ metadata }) => metadata.uid));
  for (const { uid, name = "" } of status.active) {
    if (present.has(uid ?? "")) continue;
    const { namespace } = cronJob.metadata;
    if ((await run.client.live.find(Job, { name, namespace })) !== undefined) continue;
    events.normal("MissingJob", `Active job went missing: ${name}`);
    deactivate(run, uid);
  }
}
