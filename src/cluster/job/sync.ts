/** One run of a Job: decides whether it has ended, which pods it needs and what its status says. */
import type { Result } from "../../index.ts";
import type { Pod } from "../../resource/builtin/index.ts";
import { runIn, timestamp } from "../workload/time.ts";
import { finishedAt } from "./back-off.ts";
import { conditionOf, type Finding, say } from "./conditions.ts";
import { Indexes } from "./indexes.ts";
import { indexFailures, indexOf, isFailed, isIndexed, isTracked, isWantedIndex } from "./job-pods.ts";
import type { JobRun } from "./job-run.ts";
import { deleteActive, managePods } from "./pods.ts";
import { failureAction, metRule } from "./policies.ts";
import { trackPods } from "./track.ts";

/** Runs the Job. @throws the first failure, after the status was written. */
export async function syncJob(run: JobRun): Promise<Result | undefined> {
  const { status } = run;
  let isChanged = false;
  if (status.startTime === undefined && !run.isSuspended) status.startTime = timestamp(run.now);
  run.end = endOf(run);
  let active = run.active.length;
  if (run.end !== undefined) {
    const deleted = await deleteActive(run);
    active -= deleted;
    // A pod that still exists has not been counted yet.
    if (active > 0) run.end = undefined;
  } else {
    if (!run.isDeleting) active = await managePods(run);
    if (isComplete(run, active)) run.end = COMPLETE;
    else if (!run.isDeleting) isChanged = saySuspended(run);
  }
  isChanged ||= active !== (status.active ?? 0) || run.ready !== status.ready || run.terminating !== status.terminating;
  status.active = active;
  status.ready = run.ready;
  status.terminating = run.terminating;
  await trackPods(run, isChanged);
  if (run.problem !== undefined) throw run.problem;
  return runIn(run.wait);
}

const COMPLETE: Finding = {
  type: "SuccessCriteriaMet",
  reason: "CompletionsReached",
  message: "Reached expected number of succeeded pods",
};

/** Returns why the Job ends now; an earlier decision stands, and failure takes precedence over success. */
function endOf(run: JobRun): Finding | undefined {
  const { job } = run;
  const announced = conditionOf(job, "SuccessCriteriaMet") ?? conditionOf(job, "FailureTarget");
  const { reason = "", message = "" } = announced ?? {};
  let end: Finding | undefined;
  if (announced?.type === "SuccessCriteriaMet") end = { type: "SuccessCriteriaMet", reason, message };
  else if (announced !== undefined) end = { type: "Failed", reason, message };
  else end = failureByPolicy(run) ?? failureByLimit(run);
  if (isIndexed(job)) end = endByIndexes(run, end);
  return end;
}

function failureByPolicy({ job, pods }: JobRun): Finding | undefined {
  const { podFailurePolicy } = job.spec;
  for (const pod of podFailurePolicy === undefined ? [] : pods) {
    if (!isFailed(job, pod)) continue;
    const { action, message } = failureAction(podFailurePolicy, pod);
    if (action === "FailJob") return { type: "FailureTarget", reason: "PodFailurePolicy", message };
  }
  return undefined;
}

function failureByLimit(run: JobRun): Finding | undefined {
  const { job, failed, status, now } = run;
  const { backoffLimit = 6, activeDeadlineSeconds } = job.spec;
  if (failed > backoffLimit || restartsExceed(run, backoffLimit)) {
    return failure("BackoffLimitExceeded", "Job has reached the specified backoff limit");
  }
  if (activeDeadlineSeconds === undefined || run.isSuspended || status.startTime === undefined) return undefined;
  const left = Date.parse(status.startTime) + activeDeadlineSeconds * 1000 - now;
  if (left <= 0) return failure("DeadlineExceeded", "Job was active longer than specified deadline");
  run.later(left);
  return undefined;
}

function failure(reason: string, message: string): Finding {
  return { type: "FailureTarget", reason, message };
}

/** With `restartPolicy: OnFailure` the kubelet restarts containers, and their pods do not fail. */
function restartsExceed({ job, pods }: JobRun, limit: number): boolean {
  if (job.spec.template.spec.restartPolicy !== "OnFailure") return false;
  let restarts = 0;
  for (const { status } of pods) {
    if (status?.phase !== "Running" && status?.phase !== "Pending") continue;
    for (const one of [...(status.initContainerStatuses ?? []), ...(status.containerStatuses ?? [])]) {
      restarts += one.restartCount;
    }
  }
  return limit === 0 ? restarts > 0 : restarts >= limit;
}

function endByIndexes(run: JobRun, end: Finding | undefined): Finding | undefined {
  const { completions = 0, backoffLimitPerIndex, maxFailedIndexes, successPolicy } = run.job.spec;
  if (backoffLimitPerIndex !== undefined) {
    run.failedIndexes = failedIndexes(run, backoffLimitPerIndex);
    const failed = run.failedIndexes.size;
    if (maxFailedIndexes !== undefined && failed > maxFailedIndexes) {
      end ??= failure("MaxFailedIndexesExceeded", "Job has exceeded the specified maximal number of failed indexes");
    } else if (failed > 0 && failed + run.succeededIndexes.size >= completions) {
      end ??= failure("FailedIndexes", "Job has failed indexes");
    }
    run.delayed = delayedPods(run, run.failedIndexes);
  }
  if (end !== undefined) return end;
  const message = metRule(successPolicy, run.succeededIndexes, completions);
  return message === undefined ? undefined : { type: "SuccessCriteriaMet", reason: "SuccessPolicy", message };
}

function failedIndexes({ job, pods, status }: JobRun, limit: number): Indexes {
  const failed = pods.filter((pod) => {
    if (!isTracked(pod) || !isWantedIndex(job, pod) || !isFailed(job, pod)) return false;
    const { action } = failureAction(job.spec.podFailurePolicy, pod);
    return action === "FailIndex" || (action !== "Ignore" && indexFailures(pod).counted >= limit);
  });
  return Indexes.parse(status.failedIndexes, job.spec.completions ?? 0).with(Indexes.of(failed.map(indexOf)));
}

/** For each index that is to be retried, the pod that failed last. */
function delayedPods({ job, pods, active, succeededIndexes }: JobRun, failed: Indexes): Map<number, Pod> {
  const settled = succeededIndexes.with(failed).with(Indexes.of(active.map(indexOf).filter((index) => index >= 0)));
  const last = new Map<number, Pod>();
  for (const pod of pods) {
    const index = indexOf(pod);
    if (!isTracked(pod) || !isWantedIndex(job, pod) || !isFailed(job, pod) || settled.has(index)) continue;
    const before = last.get(index);
    if (before === undefined || isLater(pod, before)) last.set(index, pod);
  }
  return last;
}

function isLater(pod: Pod, other: Pod): boolean {
  const [mine, others] = [indexFailures(pod), indexFailures(other)];
  return mine.counted + mine.ignored >= others.counted + others.ignored && finishedAt(pod) >= finishedAt(other);
}

/** Without a number of completions one success is enough, once no pod runs any more. */
function isComplete({ job, succeeded }: JobRun, active: number): boolean {
  return active === 0 && succeeded >= (job.spec.completions ?? 1);
}

function saySuspended(run: JobRun): boolean {
  const { status, events, now } = run;
  const word = run.isSuspended ? "suspended" : "resumed";
  const reason = run.isSuspended ? "JobSuspended" : "JobResumed";
  const finding = {
    type: "Suspended",
    status: run.isSuspended ? "True" : "False",
    reason,
    message: `Job ${word}`,
  } as const;
  if (!say(status.conditions, finding, now)) return false;
  events.normal(run.isSuspended ? "Suspended" : "Resumed", `Job ${word}`);
  // The deadline counts from the last time that the Job was resumed.
  if (run.isSuspended) delete status.startTime;
  else status.startTime = timestamp(now);
  return true;
}
