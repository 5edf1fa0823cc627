/** Creates and deletes the pods of a Job. */
import { type Container, type Job, Pod, type PodTemplateSpec } from "../../resource/builtin/index.ts";
import { release } from "../workload/finalizer.ts";
import { createPod, deletePod, isNamespaceTerminating, podOf } from "../workload/pod-control.ts";
import { byProgress, isReady, readySince, restartsOf } from "../workload/pod-state.ts";
import { slowStart } from "../workload/slow-start.ts";
import { remaining, finishedAt } from "./back-off.ts";
import {
  failureAnnotations,
  INDEX,
  indexFailures,
  indexOf,
  isIndexed,
  isTracked,
  isWantedIndex,
  replacesOnlyFailed,
  TRACKING_FINALIZER,
} from "./job-pods.ts";
import { Indexes } from "./indexes.ts";
import type { JobRun } from "./job-run.ts";
import { failureAction } from "./policies.ts";

/** The most pods that one run creates or deletes. */
const BURST = 500;
/** The longest prefix of a name that the server completes. */
const MAX_PREFIX = 58;
const INDEX_VARIABLE = "JOB_COMPLETION_INDEX";

/**
 * Brings the number of active pods to the number that the Job wants. @returns that number. @throws the first failure.
 */
export async function managePods(run: JobRun): Promise<number> {
  const { job, active } = run;
  if (run.isSuspended) return remove(run, firstToGo(job, active, active.length));
  const { parallelism = 1, completions } = job.spec;
  const wanted =
    completions !== undefined
      ? Math.max(0, Math.min(completions - run.succeeded, parallelism))
      : run.succeeded > 0
        ? active.length // a work queue is done once one of its workers has succeeded
        : parallelism;
  const excess = firstToGo(job, active, Math.max(0, active.length - wanted)).slice(0, BURST);
  if (excess.length > 0) return remove(run, excess);
  const missing = wanted - active.length - (replacesOnlyFailed(job) ? run.terminating : 0);
  if (missing <= 0) return active.length;
  const indexes = isIndexed(job) ? dueIndexes(run, Math.min(missing, BURST)) : undefined;
  const wait = job.spec.backoffLimitPerIndex === undefined ? remaining(run.failures, run.now) : 0;
  if (wait > 0) run.later(wait);
  return wait > 0 ? active.length : create(run, indexes ?? Array<undefined>(Math.min(missing, BURST)).fill(undefined));
}

/** Returns the indexes that need pods; with a back-off limit per index, each index waits on its own. */
function dueIndexes(run: JobRun, count: number): number[] {
  const { job, active, pods, delayed, now } = run;
  const going = replacesOnlyFailed(job) ? pods.filter(({ metadata }) => metadata.deletionTimestamp !== undefined) : [];
  const taken = Indexes.of([...active, ...going].map(indexOf).filter((index) => index >= 0))
    .with(run.succeededIndexes)
    .with(run.failedIndexes ?? Indexes.none);
  const pending = taken.missing(count, job.spec.completions ?? 0);
  if (job.spec.backoffLimitPerIndex === undefined) return pending;
  const waits = pending.map((index) => {
    const before = delayed.get(index);
    if (before === undefined) return 0;
    const { counted, ignored } = indexFailures(before);
    return remaining({ count: counted + ignored + 1, last: finishedAt(before) }, now);
  });
  const due = pending.filter((_, at) => waits[at] === 0);
  if (due.length === 0 && waits.length > 0) run.later(Math.min(...waits));
  return due;
}

async function create(run: JobRun, indexes: readonly (number | undefined)[]): Promise<number> {
  let count = 0;
  const queue = indexes.values();
  const start = async () => {
    await createPod(newPod(run, queue.next().value), run);
    count++;
  };
  try {
    await slowStart(indexes.length, start);
  } catch (error) {
    if (!isNamespaceTerminating(error)) run.problem ??= error;
  }
  return run.active.length + count;
}

function newPod({ job, delayed }: JobRun, index: number | undefined): ReturnType<typeof podOf> {
  const { template, backoffLimitPerIndex, podFailurePolicy } = job.spec;
  const finalizers = [
    ...(template.metadata?.finalizers ?? []).filter((one) => one !== TRACKING_FINALIZER),
    TRACKING_FINALIZER,
  ];
  if (index === undefined) return podOf({ ...template, metadata: { ...template.metadata, finalizers } }, job);
  const { metadata, spec } = template;
  const before = delayed.get(index);
  const annotations: Record<string, string> = { ...metadata?.annotations, [INDEX]: String(index) };
  if (backoffLimitPerIndex !== undefined) {
    const { counted, ignored } = before === undefined ? { counted: -1, ignored: 0 } : indexFailures(before);
    const isIgnored = before !== undefined && failureAction(podFailurePolicy, before).action === "Ignore";
    const failures = isIgnored ? { counted, ignored: ignored + 1 } : { counted: counted + 1, ignored };
    Object.assign(annotations, failureAnnotations(failures));
  }
  const indexed: PodTemplateSpec = {
    metadata: { ...metadata, finalizers, annotations, labels: { ...metadata?.labels, [INDEX]: String(index) } },
    spec: {
      ...spec,
      hostname: `${job.metadata.name}-${index}`,
      containers: spec.containers.map(withIndex),
      initContainers: spec.initContainers?.map(withIndex),
    },
  };
  const pod = podOf(indexed, job);
  return { ...pod, metadata: { ...pod.metadata, generateName: prefixOf(job, index) } };
}

function withIndex<C extends Container>(container: C): C {
  const { env = [] } = container;
  if (env.some(({ name }) => name === INDEX_VARIABLE)) return container;
  const fieldPath = `metadata.labels['${INDEX}']`;
  return { ...container, env: [...env, { name: INDEX_VARIABLE, valueFrom: { fieldRef: { fieldPath } } }] };
}

function prefixOf({ metadata: { name } }: Job, index: number): string {
  const suffix = `-${index}-`;
  return `${name.slice(0, MAX_PREFIX - suffix.length)}${suffix}`;
}

/** Deletes active pods that the Job does not want any more; their end does not count. */
async function remove(run: JobRun, pods: readonly Pod[]): Promise<number> {
  const removed = await deleteAll(run, pods, async (pod) => {
    await untrack(run, pod);
    await deletePod(pod, run);
  });
  return run.active.length - removed;
}

/** Deletes the active pods of an ended Job; they are counted before their finalizers go. @returns how many. */
export function deleteActive(run: JobRun): Promise<number> {
  return deleteAll(run, run.active, (pod) => deletePod(pod, run));
}

async function deleteAll(run: JobRun, pods: readonly Pod[], work: (pod: Pod) => Promise<void>): Promise<number> {
  const results = await Promise.allSettled(pods.map(work));
  let deleted = 0;
  for (const [at, result] of results.entries()) {
    const pod = pods[at];
    if (pod !== undefined && isReady(pod)) run.ready--;
    if (result.status === "fulfilled") deleted++;
    else run.problem ??= result.reason;
  }
  run.terminating += deleted;
  return deleted;
}

/** Removes the finalizer of a pod, which succeeds also for a pod that is gone. */
export async function untrack({ client }: Pick<JobRun, "client">, pod: Pod): Promise<void> {
  if (isTracked(pod)) await release(Pod, pod, { finalizer: TRACKING_FINALIZER, client });
}

/** Returns the pods that must go, then others if necessary, those with the least progress first. */
function firstToGo(job: Job, pods: readonly Pod[], atLeast: number): Pod[] {
  const { needless, others } = isIndexed(job) ? withoutNeedless(job, pods) : { needless: [], others: [...pods] };
  return [...needless, ...others.sort(byNeed).slice(0, Math.max(0, atLeast - needless.length))];
}

/** Returns the pods whose index is not wanted or is taken by another pod. */
function withoutNeedless(job: Job, pods: readonly Pod[]): { needless: Pod[]; others: Pod[] } {
  const needless: Pod[] = [];
  const best = new Map<number, Pod>();
  for (const pod of pods.toSorted(byNeed)) {
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

function byNeed(a: Pod, b: Pod): number {
  const since = (readySince(b) ?? 0) - (readySince(a) ?? 0);
  return byProgress(a, b) || since || restartsOf(b) - restartsOf(a) || createdAt(b) - createdAt(a);
}

function createdAt({ metadata }: Pod): number {
  return Date.parse(metadata.creationTimestamp ?? "");
}
