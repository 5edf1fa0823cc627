/** The state of one run of a Job: the pods, the findings, and the status that it will write. */
import { type Client, type Draft, edit, type RunEvents } from "../../index.ts";
import { Job, type JobCondition, type JobStatus, type Pod } from "../../resource/builtin/index.ts";
import { isActive, isReady, isTerminating } from "../workload/pod-state.ts";
import type { Remembered } from "../workload/remembered.ts";
import { failuresAfter, type Failures } from "./back-off.ts";
import type { Finding } from "./conditions.ts";
import { Indexes } from "./indexes.ts";
import { indexOf, isFailed, isIndexed, isSucceeded, isTracked, isWantedIndex } from "./job-pods.ts";
import { failureAction } from "./policies.ts";

/** The means that the runs of all Jobs share. */
export interface JobTools {
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** The back-off by the UID of the Job. */
  readonly failures: Remembered<Failures>;
}

export type JobDraft = Draft<JobStatus> & {
  conditions: Draft<JobCondition>[];
  uncountedTerminatedPods: { succeeded: string[]; failed: string[] };
};

interface JobRunInput extends JobTools {
  readonly client: Client;
  readonly events: RunEvents;
  readonly job: Job;
  readonly pods: readonly Pod[];
}

export class JobRun {
  readonly client: Client;
  readonly events: RunEvents;
  readonly now: number;
  /** The Job as the server last returned it. */
  job: Job;
  status: JobDraft;
  readonly pods: readonly Pod[];
  readonly active: readonly Pod[];
  /** The number of ready pods among the active ones. */
  ready: number;
  /** The pods that are being deleted. */
  terminating: number;
  /** The Job's failures since the last success, as of this run's status. */
  readonly failures: Failures;
  readonly #failures: Remembered<Failures>;
  /** All pods that ended, whether or not the status has counted them. */
  succeeded: number;
  readonly failed: number;
  /** The indexes in the status, together with those of pods that have ended since. */
  readonly succeededBefore: Indexes;
  succeededIndexes: Indexes;
  failedIndexes: Indexes | undefined;
  /** Failed pods by index, which stay until the next pod records how often the index failed. */
  delayed: ReadonlyMap<number, Pod> = new Map();
  /** The condition that ends the Job, once it is known. */
  end: Finding | undefined;
  /** Milliseconds after which the Job runs again in any case. */
  wait: number = Infinity;
  /** The first failure with a pod; the status is written anyway. */
  problem: unknown;

  constructor({ client, events, job, pods, now, failures }: JobRunInput) {
    this.client = client;
    this.events = events;
    this.now = now();
    this.job = job;
    this.pods = pods;
    this.status = draftOf(job);
    this.active = pods.filter(isActive);
    this.ready = this.active.filter(isReady).length;
    this.terminating = pods.filter(isTerminating).length;
    const { uncountedTerminatedPods: uncounted } = this.status;
    const fresh = pods.filter((pod) => isTracked(pod) && isWantedIndex(job, pod));
    const succeeded = fresh.filter((pod) => isSucceeded(pod) && !uncounted.succeeded.includes(pod.metadata.uid));
    const failed = fresh.filter((pod) => isFailed(job, pod) && !uncounted.failed.includes(pod.metadata.uid));
    const counting = failed.filter((pod) => failureAction(job.spec.podFailurePolicy, pod).action !== "Ignore");
    this.#failures = failures;
    this.failures = failuresAfter(failures.get(job.metadata.uid), { succeeded, failed });
    this.failed = (this.status.failed ?? 0) + counting.length + uncounted.failed.length;
    this.succeeded = (this.status.succeeded ?? 0) + succeeded.length + uncounted.succeeded.length;
    this.succeededBefore = Indexes.parse(this.status.completedIndexes, job.spec.completions ?? 0);
    this.succeededIndexes = this.succeededBefore.with(
      Indexes.of(isIndexed(job) ? fresh.filter(isSucceeded).map(indexOf) : []),
    );
    if (isIndexed(job)) this.succeeded = this.succeededIndexes.size;
  }

  get isSuspended(): boolean {
    return this.job.spec.suspend === true;
  }

  get isDeleting(): boolean {
    return this.job.metadata.deletionTimestamp !== undefined;
  }

  later(ms: number): void {
    this.wait = Math.min(this.wait, ms);
  }

  /** Writes the status. @throws a conflict when the Job changed since it was read, so that nothing is counted twice. */
  async write(): Promise<void> {
    const { name, namespace } = this.job.metadata;
    const body = { ...this.job, status: withoutZeros(this.status) };
    const answer = await this.client.subresource("status").update(Job, { name, namespace }, body);
    if (this.failures.count > 0) this.#failures.set(this.job.metadata.uid, this.failures);
    else this.#failures.delete(this.job.metadata.uid);
    this.job = answer as unknown as Job;
    this.status = draftOf(this.job);
  }
}

function draftOf(job: Job): JobDraft {
  const { status } = edit({ status: job.status ?? {} }, () => undefined);
  const draft = status as Draft<JobStatus>;
  return Object.assign(draft, {
    conditions: draft.conditions ?? [],
    uncountedTerminatedPods: {
      succeeded: draft.uncountedTerminatedPods?.succeeded ?? [],
      failed: draft.uncountedTerminatedPods?.failed ?? [],
    },
  });
}

/** Go omits these fields when they are zero, and so the server's object lacks them. */
function withoutZeros(status: JobDraft): object {
  const {
    active,
    succeeded,
    failed,
    completedIndexes,
    conditions,
    uncountedTerminatedPods: uncounted,
    ...rest
  } = status;
  return {
    ...rest,
    active: active || undefined,
    succeeded: succeeded || undefined,
    failed: failed || undefined,
    completedIndexes: completedIndexes || undefined,
    conditions: conditions.length > 0 ? conditions : undefined,
    uncountedTerminatedPods: {
      succeeded: uncounted.succeeded.length > 0 ? uncounted.succeeded : undefined,
      failed: uncounted.failed.length > 0 ? uncounted.failed : undefined,
    },
  };
}
