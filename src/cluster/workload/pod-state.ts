/** Interprets a pod's phase and conditions. */
import type { Pod, PodCondition } from "../../resource/builtin/index.ts";

/**
 * Whether the pod has ended, so that its container statuses do not change any more. @see
 * https://kubernetes.io/docs/concepts/workloads/pods/pod-lifecycle/#pod-phase
 */
export function isFinished({ status }: Pod): boolean {
  return status?.phase === "Succeeded" || status?.phase === "Failed";
}

/** Whether the pod counts as a replica: it has not ended and is not being deleted. */
export function isActive(pod: Pod): boolean {
  return !isFinished(pod) && pod.metadata.deletionTimestamp === undefined;
}

/** Whether the pod is being deleted and still runs. */
export function isTerminating(pod: Pod): boolean {
  return !isFinished(pod) && pod.metadata.deletionTimestamp !== undefined;
}

/** Returns the pod's condition of this type. */
export function podCondition({ status }: Pod, type: string): PodCondition | undefined {
  return status?.conditions?.find((condition) => condition.type === type);
}

export function isReady(pod: Pod): boolean {
  return podCondition(pod, "Ready")?.status === "True";
}

/** Returns when the pod became ready, in milliseconds since the epoch; `undefined` when it is not ready. */
export function readySince(pod: Pod): number | undefined {
  const ready = podCondition(pod, "Ready");
  return ready?.status === "True" ? Date.parse(ready.lastTransitionTime ?? "") : undefined;
}

/** Returns the milliseconds until a ready pod is available; 0 when it is, `undefined` when it is not ready. */
export function availableIn(pod: Pod, { minReadySeconds = 0, now }: Readiness): number | undefined {
  const since = readySince(pod);
  if (since === undefined) return undefined;
  return minReadySeconds === 0 ? 0 : Math.max(0, since + minReadySeconds * 1000 - now);
}

/** When a ready pod counts as available. */
export interface Readiness {
  /** @default 0 */
  readonly minReadySeconds?: number | undefined;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** Whether the pod has been ready for `minReadySeconds`. */
export function isAvailable(pod: Pod, readiness: Readiness): boolean {
  return availableIn(pod, readiness) === 0;
}
