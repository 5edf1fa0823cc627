/** Orders a Job's pods for deletion: those that have made the least progress come first. */
import type { Job, Pod } from "../../resource/builtin/index.ts";
import { isReady, readySince } from "../workload/pod-state.ts";
import { indexOf, isIndexed, isWantedIndex } from "./job-pods.ts";

/** Returns the pods that must be deleted, and as many others as necessary. */
export function firstToGo(job: Job, pods: readonly Pod[], atLeast: number): Pod[] {
  const { needless, others } = isIndexed(job) ? withoutNeedless(job, pods) : { needless: [], others: [...pods] };
  return [...needless, ...others.sort(byProgress).slice(0, Math.max(0, atLeast - needless.length))];
}

/** Returns the pods whose index is not wanted or is taken by another pod. */
function withoutNeedless(job: Job, pods: readonly Pod[]): { needless: Pod[]; others: Pod[] } {
  const needless: Pod[] = [];
  const best = new Map<number, Pod>();
  for (const pod of pods.toSorted(byProgress)) {
    if (!isWantedIndex(job, pod)) {
      needless.push(pod);
      continue;
    }
    const lesser = best.get(indexOf(pod));
    if (lesser !== undefined) needless.push(lesser);
    best.set(indexOf(pod), pod);
  }
  return { needless, others: [...best.values()] };
}

const PHASES = ["Pending", "Unknown", "Running"];

function byProgress(a: Pod, b: Pod): number {
  const assigned = Number(Boolean(a.spec.nodeName)) - Number(Boolean(b.spec.nodeName));
  const phase = PHASES.indexOf(a.status?.phase ?? "") - PHASES.indexOf(b.status?.phase ?? "");
  const ready = Number(isReady(a)) - Number(isReady(b));
  const since = (readySince(b) ?? 0) - (readySince(a) ?? 0);
  return assigned || phase || ready || since || restartsOf(b) - restartsOf(a) || createdAt(b) - createdAt(a);
}

function restartsOf({ status }: Pod): number {
  return Math.max(0, ...(status?.containerStatuses ?? []).map(({ restartCount }) => restartCount));
}

function createdAt({ metadata }: Pod): number {
  return Date.parse(metadata.creationTimestamp ?? "");
}
