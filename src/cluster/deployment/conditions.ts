/** Sets the conditions of Deployments, which record their last update besides their last transition. */
import type { DeploymentCondition, Deployment } from "../../resource/builtin/index.ts";
import { timestamp } from "../workload/time.ts";

type Conditions = readonly DeploymentCondition[] | undefined;

export interface NewCondition {
  readonly type: "Available" | "Progressing";
  readonly status: "True" | "False" | "Unknown";
  readonly reason: string;
  readonly message: string;
}

export function conditionOf(conditions: Conditions, type: string): DeploymentCondition | undefined {
  return conditions?.find((one) => one.type === type);
}

/** Leaves the condition as it is, including its message, when status and reason are the same. */
export function withCondition(conditions: Conditions, condition: NewCondition, now: number): DeploymentCondition[] {
  const before = conditionOf(conditions, condition.type);
  if (before?.status === condition.status && before.reason === condition.reason) return [...(conditions ?? [])];
  return [...without(conditions, condition.type), renewed(condition, before, now)];
}

/** Replaces the condition and sets its update time to now. */
export function withNewCondition(conditions: Conditions, condition: NewCondition, now: number): DeploymentCondition[] {
  return [...without(conditions, condition.type), renewed(condition, conditionOf(conditions, condition.type), now)];
}

export function without(conditions: Conditions, type: string): DeploymentCondition[] {
  return conditions?.filter((one) => one.type !== type) ?? [];
}

function renewed(condition: NewCondition, before: DeploymentCondition | undefined, now: number): DeploymentCondition {
  const isSame = before?.status === condition.status;
  const lastTransitionTime = isSame ? before.lastTransitionTime : timestamp(now);
  return { ...condition, lastUpdateTime: timestamp(now), ...(lastTransitionTime && { lastTransitionTime }) };
}

/** Whether the Deployment has a deadline after which a rollout counts as stuck. */
export function hasDeadline({ spec }: Deployment): boolean {
  return spec.progressDeadlineSeconds !== undefined && spec.progressDeadlineSeconds !== 0x7fffffff;
}
