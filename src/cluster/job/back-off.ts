/**
 * Computes how long a Job waits before it replaces a failed pod: 10 s, 20 s, 40 s, up to 10 minutes.
 *
 * @see https://kubernetes.io/docs/concepts/workloads/controllers/job/#pod-backoff-failure-policy
 */
import type { ContainerStatus, Pod } from "../../resource/builtin/index.ts";
import { podCondition } from "../workload/pod-state.ts";

const FIRST = 10_000;
const LONGEST = 10 * 60_000;

/** The failures since the last success. */
export interface Failures {
  readonly count: number;
  /** The time of the last failure, in milliseconds since the epoch. */
  readonly last: number;
}

const NONE: Failures = { count: 0, last: 0 };

/** Counts the pods that ended since; a success resets the count. */
export function failuresAfter(
  before: Failures | undefined,
  { succeeded, failed }: { readonly succeeded: readonly Pod[]; readonly failed: readonly Pod[] },
): Failures {
  const success = Math.max(...succeeded.map(finishedAt));
  const since = succeeded.length === 0 ? before : NONE;
  const times = failed.map(finishedAt).filter((time) => succeeded.length === 0 || time > success);
  if (times.length === 0) return since ?? NONE;
  return { count: (since?.count ?? 0) + times.length, last: Math.max(...times) };
}

/** Returns the milliseconds until the next pod may be created. */
export function remaining({ count, last }: Failures, now: number): number {
  if (count === 0) return 0;
  return Math.max(0, last + Math.min(FIRST * 2 ** (count - 1), LONGEST) - now);
}

/** Returns the time at which the pod ended, as precisely as its status shows, in milliseconds since the epoch. */
export function finishedAt(pod: Pod): number {
  const { deletionTimestamp, deletionGracePeriodSeconds = 0, creationTimestamp } = pod.metadata;
  const ended = lastEnd(pod);
  if (ended !== undefined) return ended;
  const ready = podCondition(pod, "Ready");
  if (ready?.status === "False" && ready.lastTransitionTime !== undefined) return Date.parse(ready.lastTransitionTime);
  if (deletionTimestamp !== undefined) return Date.parse(deletionTimestamp) - deletionGracePeriodSeconds * 1000;
  return Date.parse(creationTimestamp);
}

/** Returns the time at which the last container ended; `undefined` while one has not. */
function lastEnd({ spec, status }: Pod): number | undefined {
  const sidecars = new Set(
    spec.initContainers?.filter(({ restartPolicy }) => restartPolicy === "Always").map(({ name }) => name),
  );
  const statuses: readonly ContainerStatus[] = [
    ...(status?.containerStatuses ?? []),
    ...(status?.initContainerStatuses ?? []).filter(({ name }) => sidecars.has(name)),
  ];
  if (statuses.length === 0) return undefined;
  const ends = statuses.map(({ state }) => Date.parse(state?.terminated?.finishedAt ?? ""));
  return ends.some(Number.isNaN) ? undefined : Math.max(...ends);
}
