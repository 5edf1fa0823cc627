/** The strategies of Deployments, each of which takes one step in a run. */
import type { Pod, ReplicaSet } from "../../resource/builtin/index.ts";
import { isFinished } from "../workload/pod-state.ts";
import { create, syncRevision } from "./current.ts";
import { limitsOf, newSize } from "./limits.ts";
import { active, allOf, type DeploymentRun, type ReplicaSets, sizeOf, total } from "./run.ts";
import { replaced, resize } from "./scale.ts";

/**
 * The strategy RollingUpdate: the current ReplicaSet grows and the old ones shrink, within the limits. It scales up if
 * there is room, otherwise down if that is allowed. Changes of pods cause the next step.
 */
export async function roll(run: DeploymentRun, sets: ReplicaSets): Promise<ReplicaSets> {
  const current = sets.current!;
  const { replicas = 1 } = run.deployment.spec;
  const size = sizeOf(current) > replicas ? replicas : newSize(run.deployment, sets.old, sizeOf(current));
  if (size !== sizeOf(current)) return replaced(sets, await resize(run, current, size));
  return shrinkOld(run, sets);
}

async function shrinkOld(run: DeploymentRun, sets: ReplicaSets): Promise<ReplicaSets> {
  const current = sets.current!;
  if (total(sets.old, sizeOf) === 0) return sets;
  const { replicas = 1 } = run.deployment.spec;
  const minAvailable = replicas - limitsOf(run.deployment).maxUnavailable;
  const unavailable = sizeOf(current) - (current.status?.availableReplicas ?? 0);
  const spare = total(allOf(sets), sizeOf) - minAvailable - unavailable;
  if (spare <= 0) return sets;
  // Deleting pods that are not available makes nothing worse.
  let result = await shrink(run, sets, {
    most: spare,
    of: (set) => sizeOf(set) - (set.status?.availableReplicas ?? 0),
  });
  const available = total(allOf(sets), ({ status }) => status?.availableReplicas);
  result = await shrink(run, result, { most: available - minAvailable, of: sizeOf });
  return result;
}

interface Shrinking {
  /** The most pods that may be removed from all of them together. */
  readonly most: number;
  /** The most pods that may be removed from this one. */
  readonly of: (set: ReplicaSet) => number;
}

/** Scales ReplicaSets down, the oldest first. */
async function shrink(run: DeploymentRun, sets: ReplicaSets, { most, of }: Shrinking): Promise<ReplicaSets> {
  let result = sets;
  let left = most;
  for (const set of active(sets.old)) {
    const count = Math.min(left, of(set));
    if (count <= 0) continue;
    left -= count;
    result = replaced(result, await resize(run, set, sizeOf(set) - count));
  }
  return result;
}

/**
 * The strategy Recreate: all old pods end before the first new one starts.
 *
 * @param oldPods pods of old ReplicaSets, including those that are being deleted
 */
export async function recreate(run: DeploymentRun, sets: ReplicaSets, oldPods: readonly Pod[]): Promise<ReplicaSets> {
  const running = active(sets.old);
  if (running.length > 0) {
    let result = sets;
    for (const set of running) result = replaced(result, await resize(run, set, 0));
    return result;
  }
  if (total(sets.old, ({ status }) => status?.replicas) > 0 || oldPods.some((pod) => !isFinished(pod))) return sets;
  const { current, old } = sets.current === undefined ? await create(run, sets) : await syncRevision(run, sets);
  const { replicas = 1 } = run.deployment.spec;
  return current!.spec.replicas === replicas
    ? { current, old }
    : { current: await resize(run, current!, replicas), old };
}
