/**
 * Counts the pods that ended, each exactly once, whatever fails on the way:
 *
 * 1. The status names the pods that ended.
 * 2. Their finalizers are removed, so that they can be deleted.
 * 3. The counters count them, and the next write removes the names.
 *
 * A pod that has its finalizer and is not named was never counted; one that is named and has no finalizer must still
 * be counted.
 *
 * @see https://kubernetes.io/docs/concepts/workloads/controllers/job/#job-tracking-with-finalizers
 */
import type { Pod } from "../../resource/builtin/index.ts";
import { conditionOf, type Finding, say } from "./conditions.ts";
import { Indexes } from "./indexes.ts";
import { indexOf, isFailed, isIndexed, isSucceeded, isTracked, isWantedIndex } from "./job-pods.ts";
import type { JobRun } from "./job-run.ts";
import { failureAction } from "./policies.ts";
import { untrack } from "./pods.ts";
import { timestamp } from "../workload/time.ts";

/** The most uncounted pods in the status: this many names make it 20 KB large. */
const MOST_UNCOUNTED = 500;

/** Counts the pods. @param isChanged whether the status differs already. @throws the server's error */
export async function trackPods(run: JobRun, isChanged: boolean): Promise<void> {
  const tracked = new Set(run.pods.filter(isTracked).map(({ metadata }) => metadata.uid));
  let mustWrite = settle(run, tracked) || isChanged;
  const { ended, named, isFull } = nameEnded(run);
  mustWrite ||= named;
  if (isIndexed(run.job)) mustWrite = writeIndexes(run) || mustWrite;
  const { interim, final } = ofEnd(run.end);
  if (interim !== undefined && conditionOf(run.job, interim.type) === undefined) {
    say(run.status.conditions, interim, run.now);
    mustWrite = true;
  }
  if (mustWrite) await run.write();
  const results = await Promise.allSettled(ended.map((pod) => untrack(run, pod)));
  for (const [at, { status }] of results.entries()) {
    const uid = ended[at]?.metadata.uid;
    if (status === "fulfilled" && uid !== undefined) tracked.delete(uid);
  }
  mustWrite = settle(run, tracked);
  const failed = results.find(({ status }) => status === "rejected") as PromiseRejectedResult | undefined;
  if (failed !== undefined) {
    if (mustWrite) await run.write();
    throw failed.reason;
  }
  if (final !== undefined && !isFull && isOver(run)) await finish(run, final);
  else if (mustWrite) await run.write();
}

/** Counts named pods whose finalizer is gone. @returns whether there were any. */
function settle({ status }: JobRun, tracked: ReadonlySet<string>): boolean {
  const uncounted = status.uncountedTerminatedPods;
  const [succeeded, failed] = [uncounted.succeeded, uncounted.failed].map((uids) =>
    uids.filter((uid) => tracked.has(uid)),
  );
  const counted = {
    succeeded: uncounted.succeeded.length - (succeeded?.length ?? 0),
    failed: uncounted.failed.length - (failed?.length ?? 0),
  };
  status.succeeded = (status.succeeded ?? 0) + counted.succeeded;
  status.failed = (status.failed ?? 0) + counted.failed;
  status.uncountedTerminatedPods = { succeeded: succeeded ?? [], failed: failed ?? [] };
  return counted.succeeded + counted.failed > 0;
}

interface Named {
  /** The pods whose finalizers are to be removed. */
  readonly ended: readonly Pod[];
  readonly named: boolean;
  /** Whether the next run has more to count. */
  readonly isFull: boolean;
}

function nameEnded(run: JobRun): Named {
  const { job, status, end } = run;
  const uncounted = status.uncountedTerminatedPods;
  const ended: Pod[] = [];
  const indexes: number[] = [];
  const before = uncounted.succeeded.length + uncounted.failed.length;
  const size = () => indexes.length + uncounted.succeeded.length + uncounted.failed.length;
  for (const pod of run.pods.toSorted((a, b) => indexOf(a) - indexOf(b))) {
    if (!isTracked(pod) || !mayGo(run, pod)) continue;
    const { uid } = pod.metadata;
    ended.push(pod);
    const isLost = end !== undefined && end.type !== "SuccessCriteriaMet";
    if (isSucceeded(pod) && !uncounted.failed.includes(uid)) {
      if (isIndexed(job)) {
        if (isWantedIndex(job, pod) && !run.succeededBefore.has(indexOf(pod))) indexes.push(indexOf(pod));
      } else if (!uncounted.succeeded.includes(uid)) uncounted.succeeded.push(uid);
    } else if ((isFailed(job, pod) || isLost) && isWantedIndex(job, pod) && !uncounted.failed.includes(uid)) {
      // When the Job has ended, pods that still run have failed.
      if (failureAction(job.spec.podFailurePolicy, pod).action !== "Ignore") uncounted.failed.push(uid);
    }
    if (size() >= MOST_UNCOUNTED) return { ended, named: size() > before, isFull: true };
  }
  if (isIndexed(job)) run.succeededIndexes = run.succeededBefore.with(Indexes.of(indexes)).with(run.succeededIndexes);
  return { ended, named: size() > before, isFull: false };
}

function mayGo({ job, end, isDeleting, delayed }: JobRun, pod: Pod): boolean {
  if (isDeleting || end !== undefined || isSucceeded(pod)) return true;
  return isFailed(job, pod) && delayed.get(indexOf(pod))?.metadata.uid !== pod.metadata.uid;
}

function writeIndexes({ status, succeededIndexes, failedIndexes }: JobRun): boolean {
  const [completed, failed] = [succeededIndexes.toString(), failedIndexes?.toString()];
  const isChanged = completed !== (status.completedIndexes ?? "") || failed !== status.failedIndexes;
  status.succeeded = succeededIndexes.size;
  status.completedIndexes = completed;
  if (failed === undefined) delete status.failedIndexes;
  else status.failedIndexes = failed;
  return isChanged;
}

/** The end is announced first, and becomes true when no pod runs any more. */
function ofEnd(end: Finding | undefined): { readonly interim?: Finding; readonly final?: Finding } {
  if (end?.type === "FailureTarget") return { interim: end, final: { ...end, type: "Failed" } };
  if (end?.type === "SuccessCriteriaMet") return { interim: end, final: { ...end, type: "Complete" } };
  return end === undefined ? {} : { final: end };
}

function isOver({ status, terminating }: JobRun): boolean {
  const { succeeded, failed } = status.uncountedTerminatedPods;
  return succeeded.length + failed.length + terminating === 0;
}

async function finish(run: JobRun, final: Finding): Promise<void> {
  const { events, job, status, now } = run;
  say(status.conditions, final, now);
  if (final.type === "Complete") status.completionTime = timestamp(now);
  const succeeded = status.succeeded ?? 0;
  await run.write();
  if (final.type !== "Complete") return events.warning(final.reason, final.message);
  const { completions } = job.spec;
  if (completions !== undefined && succeeded > completions) {
    events.warning("TooManySucceededPods", "Too many succeeded pods running after completion count reached");
  }
  events.normal("Completed", "Job completed");
}
