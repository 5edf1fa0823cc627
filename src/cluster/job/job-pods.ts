/** Reads the data about pods that a Job needs. */
import type { Job, Pod } from "../../resource/builtin/index.ts";
import { isFinished } from "../workload/pod-state.ts";

/** Keeps an ended pod until the Job's status has counted it. */
export const TRACKING_FINALIZER = "batch.kubernetes.io/job-tracking";
/** The name of both a label and an annotation. */
export const INDEX = "batch.kubernetes.io/job-completion-index";
const FAILURES = "batch.kubernetes.io/job-index-failure-count";
const IGNORED_FAILURES = "batch.kubernetes.io/job-index-ignored-failure-count";

export function isTracked({ metadata }: Pod): boolean {
  return metadata.finalizers?.includes(TRACKING_FINALIZER) === true;
}

export function isIndexed({ spec }: Job): boolean {
  return spec.completionMode === "Indexed";
}

/** Returns the pod's completion index; -1 when it has none. */
export function indexOf({ metadata }: Pod): number {
  const text = metadata.annotations?.[INDEX] ?? "";
  return /^\d+$/.test(text) ? Number(text) : -1;
}

/** Whether the Job wants the pod: an Indexed Job by the pod's index, any other Job always. */
export function isWantedIndex(job: Job, pod: Pod): boolean {
  const index = indexOf(pod);
  return !isIndexed(job) || (index >= 0 && index < (job.spec.completions ?? 0));
}

/** With this policy, a pod that is being deleted is replaced only once it has ended. */
export function replacesOnlyFailed({ spec }: Job): boolean {
  return spec.podReplacementPolicy === "Failed" || spec.podFailurePolicy !== undefined;
}

export function isSucceeded({ status }: Pod): boolean {
  return status?.phase === "Succeeded";
}

/** A pod that is deleted before it ends counts as failed, because it may never report its end. */
export function isFailed(job: Job, pod: Pod): boolean {
  if (pod.status?.phase === "Failed") return true;
  return !replacesOnlyFailed(job) && pod.metadata.deletionTimestamp !== undefined && !isFinished(pod);
}

/** The number of earlier failures of pods with this index. */
export interface IndexFailures {
  readonly counted: number;
  /** Failures that the pod failure policy ignored. */
  readonly ignored: number;
}

export function indexFailures({ metadata: { annotations = {} } }: Pod): IndexFailures {
  const count = (name: string) => (/^\d+$/.test(annotations[name] ?? "") ? Number(annotations[name]) : 0);
  return { counted: count(FAILURES), ignored: count(IGNORED_FAILURES) };
}

export function failureAnnotations({ counted, ignored }: IndexFailures): Record<string, string> {
  return { [FAILURES]: String(counted), ...(ignored > 0 ? { [IGNORED_FAILURES]: String(ignored) } : undefined) };
}
