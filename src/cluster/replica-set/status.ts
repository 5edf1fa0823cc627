/** Computes a ReplicaSet's status from its pods. */
import type { Pod, ReplicaSet, ReplicaSetCondition, ReplicaSetStatus } from "../../resource/builtin/index.ts";
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

export function statusOf(set: ReplicaSet, { pods, failure, countsTerminating, now }: StatusInput): ReplicaSetStatus {
  const { minReadySeconds, template } = set.spec;
  const active = pods.filter(isActive);
  const wanted = Object.entries(template?.metadata?.labels ?? {});
  const isLabeled = ({ metadata }: Pod) => wanted.every(([key, value]) => metadata.labels?.[key] === value);
  return {
    ...set.status,
    replicas: active.length,
    fullyLabeledReplicas: active.filter(isLabeled).length,
    readyReplicas: active.filter(isReady).length,
    availableReplicas: active.filter((pod) => isAvailable(pod, { minReadySeconds, now })).length,
    ...(countsTerminating && { terminatingReplicas: pods.filter(isTerminating).length }),
    observedGeneration: set.metadata.generation,
    conditions: conditionsOf(set, failure, now),
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
