/** Computes a Deployment's status from its ReplicaSets. */
import type { DeploymentCondition, DeploymentStatus, Deployment } from "../../resource/builtin/index.ts";
import { isWritten } from "../workload/write-status.ts";
import { conditionOf, hasDeadline, type NewCondition, withCondition, withNewCondition, without } from "./conditions.ts";
import { limitsOf } from "./limits.ts";
import { allOf, type DeploymentRun, type ReplicaSets, sizeOf, total } from "./run.ts";

/** Returns the counts, and whether enough pods are available. */
export function statusOf({ deployment, now }: DeploymentRun, sets: ReplicaSets): DeploymentStatus {
  const all = allOf(sets);
  const { spec, metadata, status } = deployment;
  const available = total(all, (set) => set.status?.availableReplicas);
  const isAvailable = available >= (spec.replicas ?? 1) - limitsOf(deployment).maxUnavailable;
  const condition: NewCondition = {
    type: "Available",
    status: isAvailable ? "True" : "False",
    reason: isAvailable ? "MinimumReplicasAvailable" : "MinimumReplicasUnavailable",
    message: `Deployment ${isAvailable ? "has" : "does not have"} minimum availability.`,
  };
  return {
    observedGeneration: metadata.generation,
    replicas: total(all, (set) => set.status?.replicas),
    updatedReplicas: sets.current?.status?.replicas ?? 0,
    readyReplicas: total(all, (set) => set.status?.readyReplicas),
    availableReplicas: available,
    unavailableReplicas: Math.max(0, total(all, sizeOf) - available),
    terminatingReplicas: total(all, (set) => set.status?.terminatingReplicas),
    collisionCount: status?.collisionCount,
    conditions: withCondition(status?.conditions, condition, now),
  };
}

/** Adds the progress of a rollout. */
export function rolloutStatus(run: DeploymentRun, sets: ReplicaSets): DeploymentStatus {
  const { deployment, now } = run;
  const status = statusOf(run, sets);
  return { ...status, conditions: withFailure(withProgress(deployment, { status, sets, now }), sets) };
}

/** Writes the status if it differs. */
export async function syncStatus(run: DeploymentRun, status: DeploymentStatus): Promise<void> {
  if (!isWritten(run.deployment.status, status)) await run.write({ ...run.deployment, status });
}

/** Whether all pods are new and available and no old one is left. */
export function isComplete({ spec, metadata }: Deployment, status: DeploymentStatus = {}): boolean {
  const { replicas = 1 } = spec;
  return (
    (status.updatedReplicas ?? 0) === replicas &&
    (status.replicas ?? 0) === replicas &&
    (status.availableReplicas ?? 0) === replicas &&
    (status.observedGeneration ?? 0) >= (metadata.generation ?? 0)
  );
}

/** Milliseconds until a rollout that makes no progress times out. */
export function deadlineIn({ deployment, now }: DeploymentRun): number | undefined {
  const { spec, status } = deployment;
  const progressing = conditionOf(status?.conditions, "Progressing");
  if (!hasDeadline(deployment) || progressing === undefined) return undefined;
  if (isComplete(deployment, status) || progressing.reason === "ProgressDeadlineExceeded") return undefined;
  const since = Date.parse(progressing.lastUpdateTime ?? "");
  // One second is added, because times are truncated to seconds.
  return Math.max(0, since + spec.progressDeadlineSeconds! * 1000 - now) + 1000;
}

interface Progress {
  readonly status: DeploymentStatus;
  readonly sets: ReplicaSets;
  readonly now: number;
}

function withProgress(deployment: Deployment, { status, sets, now }: Progress): readonly DeploymentCondition[] {
  const { conditions } = status;
  if (!hasDeadline(deployment)) return without(conditions, "Progressing");
  const before = conditionOf(deployment.status?.conditions, "Progressing");
  const isOver = status.replicas === status.updatedReplicas && before?.reason === "NewReplicaSetAvailable";
  if (isOver) return conditions ?? [];
  const { current } = sets;
  const what = current ? `ReplicaSet "${current.metadata.name}"` : `Deployment "${deployment.metadata.name}"`;
  const progressing = (status: NewCondition["status"], reason: string, message: string): NewCondition => ({
    type: "Progressing",
    status,
    reason,
    message: `${what} ${message}`,
  });
  if (isComplete(deployment, status)) {
    const complete = progressing("True", "NewReplicaSetAvailable", "has successfully progressed.");
    return withCondition(conditions, complete, now);
  }
  if (getsOn(deployment.status, status)) {
    return withNewCondition(conditions, progressing("True", "ReplicaSetUpdated", "is progressing."), now);
  }
  if (!hasTimedOut(deployment, before, now)) return conditions ?? [];
  const timedOut = progressing("False", "ProgressDeadlineExceeded", "has timed out progressing.");
  return withCondition(conditions, timedOut, now);
}

/** Whether the rollout makes progress: pods were added, became ready or available, or old ones went away. */
function getsOn(before: DeploymentStatus = {}, now: DeploymentStatus): boolean {
  const old = ({ replicas = 0, updatedReplicas = 0 }: DeploymentStatus): number => replicas - updatedReplicas;
  const grows = (count: (status: DeploymentStatus) => number | undefined): boolean =>
    (count(now) ?? 0) > (count(before) ?? 0);
  return (
    grows((status) => status.updatedReplicas) ||
    old(now) < old(before) ||
    grows((status) => status.readyReplicas) ||
    grows((status) => status.availableReplicas)
  );
}

function hasTimedOut({ spec }: Deployment, progressing: DeploymentCondition | undefined, now: number): boolean {
  if (progressing === undefined || progressing.reason === "NewReplicaSetAvailable") return false;
  if (progressing.reason === "ProgressDeadlineExceeded") return true;
  return Date.parse(progressing.lastUpdateTime ?? "") + spec.progressDeadlineSeconds! * 1000 < now;
}

/** Adds the condition of a ReplicaSet that cannot create pods; the current one comes first. */
function withFailure(conditions: readonly DeploymentCondition[], sets: ReplicaSets): readonly DeploymentCondition[] {
  const type = "ReplicaFailure";
  const failure = [...(sets.current === undefined ? [] : [sets.current]), ...sets.old]
    .flatMap(({ status }) => status?.conditions ?? [])
    .find((one) => one.type === type);
  if (failure === undefined) return without(conditions, type);
  const before = conditionOf(conditions, type);
  if (before?.status === failure.status && before.reason === failure.reason) return conditions;
  const { lastTransitionTime } = failure;
  return [
    ...without(conditions, type),
    { ...failure, ...(lastTransitionTime && { lastUpdateTime: lastTransitionTime }) },
  ];
}
