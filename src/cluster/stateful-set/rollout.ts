/**
 * Brings the pods of a stateful set to the desired state.
 *
 * OrderedReady takes one step at a time: each pod is created after those before it and deleted after those behind it.
 * Parallel creates and deletes pods at once; only updates stay in order.
 *
 * @see https://kubernetes.io/docs/concepts/workloads/controllers/statefulset/#deployment-and-scaling-guarantees
 */
import type { Pod, StatefulSet } from "../../resource/builtin/index.ts";
import { isFinished } from "../workload/pod-state.ts";
import { areRetained, hasStaleClaim, retainClaims, type SetRun } from "./claims.ts";
import { firstOrdinal, hasIdentity, newPod, type Version } from "./identity.ts";
import { isLeaving, Members } from "./members.ts";
import { completeClaims, createPod, deletePod, mendPod } from "./pods.ts";
import { nextToUpdate } from "./update.ts";
import { hasVolumes } from "./volumes.ts";

export interface Rollout {
  readonly run: SetRun;
  /** Milliseconds since the epoch. */
  readonly now: number;
  readonly current: Version;
  readonly update: Version;
}

export interface Outcome {
  /** The set's pods, including those that were just created. */
  readonly pods: readonly Pod[];
  /** How many pods of the current revision were deleted for the update. */
  readonly outdated: number;
  /** Whether a pod cannot be created yet and no event will show when it can. */
  readonly isBlocked: boolean;
}

/** Takes the steps that are possible now. @throws the server's error, after all other steps were taken. */
export async function rollOut(set: StatefulSet, pods: readonly Pod[], rollout: Rollout): Promise<Outcome> {
  const members = new Members(set, pods, rollout.now);
  const before = members.firstUnavailable;
  let isBlocked = false;
  const outcome = (outdated: number): Outcome => ({ pods: members.pods, outdated, isBlocked });
  const steps: (() => Promise<boolean>)[] = members.replicas.map((_, index) => async () => {
    const step = await tendReplica(members, index, rollout);
    if (step === "blocked") isBlocked = true;
    return step !== "done";
  });
  if (await inOrder(members.isOrdered, steps)) return outcome(0);
  const retain = async (pod: Pod) => {
    if (!(await areRetained(set, pod, rollout.run))) await retainClaims(set, pod, rollout.run);
    return false;
  };
  await inOrder(
    members.isOrdered,
    members.condemned.map((pod) => () => retain(pod)),
  );
  const condemned = members.condemned.map((pod) => () => removeCondemned(members, pod, { before, rollout }));
  if (await inOrder(members.isOrdered, condemned)) return outcome(0);
  const outdated = nextToUpdate(members, rollout.update.name);
  for (const pod of outdated) await deletePod(set, pod, rollout.run);
  return outcome(outdated.length);
}

/** Takes steps one after the other until one says to wait, or all at once. @throws the first failure. */
async function inOrder(isOrdered: boolean, steps: readonly (() => Promise<boolean>)[]): Promise<boolean> {
  if (isOrdered) {
    for (const step of steps) if (await step()) return true;
    return false;
  }
  const results = await Promise.allSettled(steps.map((step) => step()));
  for (const result of results) if (result.status === "rejected") throw result.reason;
  return false;
}

/** The result of a step: `done` when the next replica may be handled, `blocked` when no event will show when it may. */
type Step = "done" | "wait" | "blocked";

async function tendReplica(members: Members, index: number, { run, current, update }: Rollout): Promise<Step> {
  const { set, replicas, isOrdered } = members;
  const ordinal = firstOrdinal(set) + index;
  let pod = replicas[index];
  if (pod !== undefined && isFinished(pod)) {
    // A pod that succeeded is deleted too, because a replica runs for ever. The next one is created when this one is
    // gone.
    if (!isLeaving(pod)) await deletePod(set, pod, run);
    return "wait";
  }
  if (pod === undefined) {
    const wanted = newPod(set, ordinal, isKeptBack(set, ordinal) ? current : update);
    if (await hasStaleClaim(set, wanted.metadata.name, run)) return "blocked";
    pod = await createPod(set, wanted, run);
    replicas[index] = pod;
    return isOrdered ? "wait" : "done";
  }
  if (pod.status?.phase === "Pending") await completeClaims(set, pod, run);
  if (isOrdered && (isLeaving(pod) || !members.isRunning(pod))) return "wait";
  if (!hasIdentity(set, pod) || !hasVolumes(set, pod, ordinal) || !(await areRetained(set, pod, run))) {
    await mendPod(set, pod, run);
  }
  return "done";
}

/** Whether an ordinal is below the partition: such pods keep the current revision, even when they are created again. */
function isKeptBack({ spec, status, ...set }: StatefulSet, ordinal: number): boolean {
  const { type, rollingUpdate } = spec.updateStrategy ?? {};
  const index = ordinal - firstOrdinal({ ...set, spec });
  if (rollingUpdate !== undefined) return index < (rollingUpdate.partition ?? 0);
  return type === "RollingUpdate" && index < (status?.currentReplicas ?? 0);
}

async function removeCondemned(
  members: Members,
  pod: Pod,
  { before, rollout }: { readonly before: Pod | undefined; readonly rollout: Rollout },
): Promise<boolean> {
  const { set, isOrdered } = members;
  if (isLeaving(pod)) return isOrdered;
  // All pods before this one must be available, unless this one is the unavailable pod.
  if (isOrdered && !members.isRunning(pod) && pod !== before) return true;
  await deletePod(set, pod, rollout.run);
  return true;
}
