/** Creates the Job of a CronJob for a scheduled time, and deletes finished ones. */
import { type Client, type RunEvents } from "../../index.ts";
import { type CronJob, Job, type JobInput, type ObjectReference } from "../../resource/builtin/index.ts";
import { ending } from "../job/conditions.ts";
import { controlledBy } from "../workload/owner.ts";
import { serverMessage } from "../workload/pod-control.ts";
import { TimeZone, wallTimestamp } from "./local-time.ts";

const SCHEDULED_AT = "batch.kubernetes.io/cronjob-scheduled-timestamp";
const MINUTE = 60_000;

/** Names the Job after its time, so that no time has two Jobs. */
export function jobName({ metadata }: CronJob, time: number): string {
  return `${metadata.name}-${Math.floor(time / MINUTE)}`;
}

export function jobFor(cronJob: CronJob, time: number): JobInput {
  const { jobTemplate, timeZone = "UTC" } = cronJob.spec;
  const { labels, annotations } = jobTemplate.metadata ?? {};
  return {
    metadata: {
      name: jobName(cronJob, time),
      namespace: cronJob.metadata.namespace,
      labels,
      annotations: { ...annotations, [SCHEDULED_AT]: wallTimestamp(time, new TimeZone(timeZone)) },
      ownerReferences: [controlledBy(cronJob)],
    },
    spec: jobTemplate.spec,
  };
}

export function referenceTo({ apiVersion, kind, metadata }: Job): ObjectReference {
  const { namespace, name, uid, resourceVersion } = metadata;
  return { apiVersion, kind, namespace, name, uid, resourceVersion };
}

interface Removal {
  readonly client: Client;
  readonly events: RunEvents;
}

/** Whether the Job is gone or being deleted. */
export async function deleteJob({ metadata }: Job, { client, events }: Removal): Promise<boolean> {
  const { name, namespace } = metadata;
  try {
    await client.delete(Job, { name, namespace }, { propagation: "Background" });
  } catch (error) {
    events.warning("FailedDelete", `Deleted job: ${serverMessage(error)}`);
    return false;
  }
  events.normal("SuccessfulDelete", `Deleted job ${name}`);
  return true;
}

/** Deletes the oldest finished Jobs beyond the history limits. @returns the deleted ones. */
export async function removeOld({ spec }: CronJob, jobs: readonly Job[], removal: Removal): Promise<Job[]> {
  const removed: Job[] = [];
  for (const [type, limit] of [
    ["Complete", spec.successfulJobsHistoryLimit],
    ["Failed", spec.failedJobsHistoryLimit],
  ] as const) {
    const ended = jobs.filter((job) => ending(job)?.type === type).sort(byStart);
    const excess = limit === undefined ? [] : ended.slice(0, Math.max(0, ended.length - limit));
    for (const job of excess) if (await deleteJob(job, removal)) removed.push(job);
  }
  return removed;
}

function byStart(a: Job, b: Job): number {
  const at = ({ status }: Job) => (status?.startTime === undefined ? Infinity : Date.parse(status.startTime));
  return at(a) === at(b) ? (a.metadata.name < b.metadata.name ? -1 : 1) : at(a) - at(b);
}
