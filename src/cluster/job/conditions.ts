/** @see https://kubernetes.io/docs/concepts/workloads/controllers/job/#terminal-job-conditions */
import type { Draft } from "../../index.ts";
import type { Job, JobCondition } from "../../resource/builtin/index.ts";
import { timestamp } from "../workload/time.ts";

export type JobConditionType = "Complete" | "Failed" | "FailureTarget" | "SuccessCriteriaMet" | "Suspended";

/** A condition that a run found to hold. */
export interface Finding {
  readonly type: JobConditionType;
  /** @default "True" */
  readonly status?: "True" | "False";
  readonly reason: string;
  readonly message: string;
}

export function conditionOf({ status }: Job, type: JobConditionType): JobCondition | undefined {
  return status?.conditions?.find((condition) => condition.type === type && condition.status === "True");
}

/** Returns the condition that ended the Job. */
export function ending(job: Job): JobCondition | undefined {
  return conditionOf(job, "Complete") ?? conditionOf(job, "Failed");
}

/** Sets a condition; one that was never true is not added as false. @returns whether the conditions changed. */
export function say(conditions: Draft<JobCondition>[], finding: Finding, now: number): boolean {
  const { type, status = "True", reason, message } = finding;
  const time = timestamp(now);
  const condition = { type, status, reason, message, lastProbeTime: time, lastTransitionTime: time };
  const at = conditions.findIndex((one) => one.type === type);
  const before = conditions[at];
  if (before === undefined) {
    if (status === "False") return false;
    conditions.push(condition);
    return true;
  }
  if (before.status === status && before.reason === reason && before.message === message) return false;
  conditions[at] = condition;
  return true;
}
