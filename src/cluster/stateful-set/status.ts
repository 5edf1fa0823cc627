/** Computes a stateful set's status from its pods. */
import type { Pod, StatefulSet, StatefulSetStatus } from "../../resource/builtin/index.ts";
import { isAvailable, isReady } from "../workload/pod-state.ts";
import { replicasOf, revisionOf } from "./identity.ts";
import type { Revisions } from "./revisions.ts";

export interface Counts {
  readonly replicas: number;
  readonly readyReplicas: number;
  readonly availableReplicas: number;
  readonly currentReplicas: number;
  readonly updatedReplicas: number;
}

/** Counts pods; those that are being deleted do not count for any revision. */
export function countPods(
  pods: readonly Pod[],
  { current, update }: Pick<Revisions, "current" | "update">,
  { minReadySeconds, now }: { readonly minReadySeconds?: number | undefined; readonly now: number },
): Counts {
  const counts = { replicas: 0, readyReplicas: 0, availableReplicas: 0, currentReplicas: 0, updatedReplicas: 0 };
  for (const pod of pods) {
    counts.replicas++;
    if (pod.status?.phase === "Running" && isReady(pod)) {
      counts.readyReplicas++;
      if (isAvailable(pod, { minReadySeconds, now })) counts.availableReplicas++;
    }
    if (pod.metadata.deletionTimestamp !== undefined) continue;
    const revision = revisionOf(pod);
    if (revision === current.metadata.name) counts.currentReplicas++;
    if (revision === update.metadata.name) counts.updatedReplicas++;
  }
  return counts;
}

/** Completes an update when all replicas have its revision and are ready; then it becomes the current one. */
export function statusOf(
  set: StatefulSet,
  { current, update, collisions }: Revisions,
  counts: Counts,
): Omit<StatefulSetStatus, "conditions"> {
  const wanted = replicasOf(set);
  const { replicas, readyReplicas, availableReplicas, updatedReplicas } = counts;
  const isComplete =
    set.spec.updateStrategy?.type === "RollingUpdate" &&
    [updatedReplicas, readyReplicas, replicas].every((count) => count === wanted);
  return {
    observedGeneration: set.metadata.generation,
    replicas,
    availableReplicas,
    readyReplicas: readyReplicas || undefined,
    currentReplicas: (isComplete ? updatedReplicas : counts.currentReplicas) || undefined,
    updatedReplicas: updatedReplicas || undefined,
    currentRevision: (isComplete ? update : current).metadata.name,
    updateRevision: update.metadata.name,
    collisionCount: collisions,
  };
}
