/** Interprets a pod's phase and conditions. */
import type { Pod, PodCondition } from "../../resource/builtin/index.ts";

/**
 * Whether the pod has ended, so that its container statuses do not change any more.
 *
 * @see https://kubernetes.io/docs/concepts/workloads/pods/pod-lifecycle/#pod-phase
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
function availableIn(pod: Pod, { minReadySeconds = 0, now }: Readiness): number | undefined {
  const since = readySince(pod);
  if (since === undefined) return undefined;
  return minReadySeconds === 0 ? 0 : Math.max(0, since + minReadySeconds * 1000 - now);
}

/** Returns the milliseconds until the next ready pod is available; `Infinity` when none waits for that. */
export function nextAvailableIn(pods: readonly Pod[], readiness: Readiness): number {
  return Math.min(Infinity, ...pods.map((pod) => availableIn(pod, readiness) || Infinity));
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

const PHASES = ["Pending", "Unknown", "Running"];

/** Orders pods by progress, the least first: those without a node, that do not run, and that are not ready. */
export function byProgress(a: Pod, b: Pod): number {
  const phase = ({ status }: Pod): number => PHASES.indexOf(status?.phase ?? "Pending");
  const hasNode = ({ spec }: Pod): number => Number(Boolean(spec.nodeName));
  return hasNode(a) - hasNode(b) || phase(a) - phase(b) || Number(isReady(a)) - Number(isReady(b));
}

/** Returns how often the most restarted container of a pod has been restarted. */
export function restartsOf({ status }: Pod): number {
  return Math.max(0, ...(status?.containerStatuses ?? []).map(({ restartCount }) => restartCount));
}
