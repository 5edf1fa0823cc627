/** Computes a ReplicaSet's status from its pods. */
import type { Pod, ReplicaSet, ReplicaSetCondition, ReplicaSetStatus } from "../../resource/builtin/index.ts";
import { sameJson } from "../../resource/json.ts";
import { isActive, isAvailable, isReady, isTerminating } from "../workload/pod-state.ts";
import { timestamp } from "../workload/time.ts";

export interface StatusInput {
  /** All its pods, whatever their state. */
  readonly pods: readonly Pod[];
  /** Why pods could not be created or deleted. */
  readonly failure: { readonly reason: "FailedCreate" | "FailedDelete"; readonly message: string } | undefined;
  /** Whether the status counts pods that are being deleted. */
  readonly countsTerminating: boolean;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

export function statusOf(
  replicaSet: ReplicaSet,
  { pods, failure, countsTerminating, now }: StatusInput,
): ReplicaSetStatus {
  const { generation } = replicaSet.metadata;
  const { minReadySeconds, template } = replicaSet.spec;
  const active = pods.filter(isActive);
  const wanted = Object.entries(template?.metadata?.labels ?? {});
  const ready = active.filter(isReady);
  const terminating = countsTerminating ? { terminatingReplicas: pods.filter(isTerminating).length } : {};
  return {
    ...replicaSet.status,
    replicas: active.length,
    fullyLabeledReplicas: active.filter(({ metadata }) =>
      wanted.every(([key, value]) => metadata.labels?.[key] === value),
    ).length,
    readyReplicas: ready.length,
    availableReplicas: ready.filter((pod) => isAvailable(pod, { minReadySeconds, now })).length,
    ...terminating,
    observedGeneration: generation,
    conditions: conditionsOf(replicaSet, failure, now),
  };
}

const FAILURE = "ReplicaFailure";

/** Keeps the first failure until pods can be created again. */
function conditionsOf(
  { status }: ReplicaSet,
  failure: StatusInput["failure"],
  now: number,
): readonly ReplicaSetCondition[] | undefined {
  const present = status?.conditions ?? [];
  const others = present.filter(({ type }) => type !== FAILURE);
  if (failure === undefined) return others.length === 0 ? undefined : others;
  if (others.length < present.length) return present;
  return [...others, { type: FAILURE, status: "True", lastTransitionTime: timestamp(now), ...failure }];
}

/** Whether the server has this status already; it omits counts of 0, except `replicas`. */
export function isWritten({ status = { replicas: 0 } }: ReplicaSet, wanted: ReplicaSetStatus): boolean {
  const { conditions = [], ...counts } = wanted;
  return (
    Object.entries(counts).every(([field, count]) => (status[field as keyof typeof counts] ?? 0) === count) &&
    (wanted.terminatingReplicas === undefined || status.terminatingReplicas !== undefined) &&
    sameJson(status.conditions ?? [], conditions)
  );
}
