/** The strategy RollingUpdate: the current ReplicaSet grows and the old ones shrink, within the limits. */
import { limitsOf } from "./limits.ts";
import {
  active,
  allOf,
  type Deployment_,
  type DeploymentRun,
  type ReplicaSet_,
  type ReplicaSets,
  sizeOf,
  total,
} from "./run.ts";
import { replaced, resize } from "./scale.ts";

/** Takes one step: it scales up if there is room, otherwise down if that is allowed. Changes of pods cause the next step. */
export async function roll(run: DeploymentRun, sets: ReplicaSets): Promise<ReplicaSets> {
  const current = sets.current!;
  const { replicas = 1 } = run.deployment.spec;
  const size = sizeOf(current) > replicas ? replicas : newSize(run.deployment, sets.old, sizeOf(current));
  if (size !== sizeOf(current)) return replaced(sets, await resize(run, current, size));
  return shrinkOld(run, sets);
}

/** Returns the size of the current ReplicaSet: as large as the surge allows, but never larger than desired. */
export function newSize({ spec, ...rest }: Deployment_, old: readonly ReplicaSet_[], size: number): number {
  const { replicas = 1 } = spec;
  if (spec.strategy?.type === "Recreate") return replicas;
  const room = replicas + limitsOf({ spec, ...rest }).maxSurge - total(old, sizeOf) - size;
  return room <= 0 ? size : size + Math.min(room, replicas - size);
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
  /** How many pods may be removed from all of them together. */
  readonly most: number;
  /** How many pods may be removed from this one. */
  readonly of: (set: ReplicaSet_) => number;
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
