/** What a Job looks at in its pods. */
import type { Job, Pod } from "../../../resource/builtin/index.ts";
import { isFinished } from "../workload/pod-state.ts";

/** Keeps an ended pod until the Job's status has counted it. */
export const TRACKING_FINALIZER = "batch.kubernetes.io/job-tracking";
/** Both a label and an annotation. */
export const INDEX = "batch.kubernetes.io/job-completion-index";
const FAILURES = "batch.kubernetes.io/job-index-failure-count";
const IGNORED_FAILURES = "batch.kubernetes.io/job-index-ignored-failure-count";

export function isTracked({ metadata }: Pod): boolean {
  return metadata.finalizers?.includes(TRACKING_FINALIZER) === true;
}

export function isIndexed({ spec }: Job): boolean {
  return spec.completionMode === "Indexed";
}

/** The pod's completion index; -1 for none. */
export function indexOf({ metadata }: Pod): number {
  const text = metadata.annotations?.[INDEX] ?? "";
  return /^\d+$/.test(text) ? Number(text) : -1;
}

/** Whether an Indexed Job wants the pod's index; every pod of another Job. */
export function isWantedIndex(job: Job, pod: Pod): boolean {
  const index = indexOf(pod);
  return !isIndexed(job) || (index >= 0 && index < (job.spec.completions ?? 0));
}

/** A pod that is on its way out is replaced only once it has ended. */
export function replacesOnlyFailed({ spec }: Job): boolean {
  return spec.podReplacementPolicy === "Failed" || spec.podFailurePolicy !== undefined;
}

export function isSucceeded({ status }: Pod): boolean {
  return status?.phase === "Succeeded";
}

/** A pod that is deleted before it ended counts as failed: it may never get so far as to say so. */
export function isFailed(job: Job, pod: Pod): boolean {
  if (pod.status?.phase === "Failed") return true;
  return !replacesOnlyFailed(job) && pod.metadata.deletionTimestamp !== undefined && !isFinished(pod);
}

/** How often the pods of an index failed before this one. */
export interface IndexFailures {
  readonly counted: number;
  /** By the pod failure policy. */
  readonly ignored: number;
}

export function indexFailures({ metadata: { annotations = {} } }: Pod): IndexFailures {
  const count = (name: string) => (/^\d+$/.test(annotations[name] ?? "") ? Number(annotations[name]) : 0);
  return { counted: count(FAILURES), ignored: count(IGNORED_FAILURES) };
}

export function failureAnnotations({ counted, ignored }: IndexFailures): Record<string, string> {
  return { [FAILURES]: String(counted), ...(ignored > 0 ? { [IGNORED_FAILURES]: String(ignored) } : undefined) };
}
