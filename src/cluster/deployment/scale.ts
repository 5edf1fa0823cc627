/** Changes the sizes of ReplicaSets. */
import { byAge } from "../workload/owner.ts";
import type { Deployment, ReplicaSet } from "../../resource/builtin/index.ts";
import { desiredReplicas, isSizeAnnotated, maxReplicas, sizeAnnotations } from "./annotations.ts";
import { limitsOf } from "./limits.ts";
import { active, allOf, type DeploymentRun, patchReplicaSet, type ReplicaSets, sizeOf, total } from "./run.ts";

/** Scales a ReplicaSet. @returns the ReplicaSet after the change */
export async function resize(run: DeploymentRun, set: ReplicaSet, size: number): Promise<ReplicaSet> {
  const before = sizeOf(set);
  if (before === size && isSizeAnnotated(set, run.deployment)) return set;
  const written = await patchReplicaSet(run, set, {
    metadata: { annotations: sizeAnnotations(run.deployment) },
    spec: { replicas: size },
  });
  if (before !== size) {
    const direction = before < size ? "up" : "down";
    const message = `Scaled ${direction} replica set ${set.metadata.name} from ${before} to ${size}`;
    run.events.normal("ScalingReplicaSet", message);
  }
  return written;
}

/** Whether the Deployment was scaled since its ReplicaSets were. */
export function isScaled({ spec }: Deployment, sets: ReplicaSets): boolean {
  return active(allOf(sets)).some((set) => (desiredReplicas(set) ?? spec.replicas) !== spec.replicas);
}

/**
 * Scales the ReplicaSets of a Deployment that was scaled or is paused. In the middle of a rollout every ReplicaSet
 * grows or shrinks in proportion, because a template that turns out bad must not get more than its share.
 */
export async function scaleInProportion(run: DeploymentRun, sets: ReplicaSets): Promise<ReplicaSets> {
  const { deployment } = run;
  const { replicas = 1, strategy } = deployment.spec;
  const only = activeOrLatest(sets);
  if (only !== undefined) {
    return sizeOf(only) === replicas ? sets : replaced(sets, await resize(run, only, replicas));
  }
  let result = sets;
  if (isSaturated(deployment, sets.current)) {
    for (const old of active(sets.old)) result = replaced(result, await resize(run, old, 0));
    return result;
  }
  if (strategy?.type !== "RollingUpdate") return sets;
  for (const [set, size] of proportions(deployment, active(allOf(sets)))) {
    result = replaced(result, await resize(run, set, size));
  }
  return result;
}

/** Returns the only ReplicaSet that has pods; the newest when none has any. */
function activeOrLatest(sets: ReplicaSets): ReplicaSet | undefined {
  const running = active(allOf(sets));
  if (running.length > 0) return running.length === 1 ? running[0] : undefined;
  return sets.current ?? [...sets.old].sort(byAge).at(-1);
}

/** Whether the current ReplicaSet alone has all desired pods. */
function isSaturated({ spec }: Deployment, current: ReplicaSet | undefined): boolean {
  return (
    current !== undefined &&
    sizeOf(current) === spec.replicas &&
    desiredReplicas(current) === spec.replicas &&
    current.status?.availableReplicas === spec.replicas
  );
}

function proportions(deployment: Deployment, sets: readonly ReplicaSet[]): [ReplicaSet, number][] {
  const { replicas = 1 } = deployment.spec;
  const allowed = replicas > 0 ? replicas + limitsOf(deployment).maxSurge : 0;
  const toAdd = allowed - total(sets, sizeOf);
  // Larger ones come first; of equal size the younger grows first and the older shrinks first.
  const inOrder = [...sets].sort(
    (one, other) => sizeOf(other) - sizeOf(one) || (toAdd > 0 ? byAge(other, one) : byAge(one, other)),
  );
  let added = 0;
  const sizes = inOrder.map((set): [ReplicaSet, number] => {
    const left = toAdd - added;
    const share = left === 0 ? 0 : shareOf(deployment, set, allowed);
    const part = toAdd > 0 ? Math.min(share, left) : Math.max(share, left);
    added += part;
    return [set, sizeOf(set) + part];
  });
  // The largest one takes the remainder of the rounding.
  const [largest] = sizes;
  if (largest !== undefined) largest[1] = Math.max(0, largest[1] + toAdd - added);
  return sizes;
}

/** Returns the change of the ReplicaSet's size that keeps its proportion of the whole. */
function shareOf({ spec, status }: Deployment, set: ReplicaSet, allowed: number): number {
  const size = sizeOf(set);
  if (spec.replicas === 0) return -size;
  const before = maxReplicas(set) || status?.replicas;
  if (!before) return 0;
  const exact = (size * allowed) / before;
  return Math.sign(exact) * Math.round(Math.abs(exact)) - size;
}

/** Returns the same sets with one of them replaced. */
export function replaced({ current, old }: ReplicaSets, set: ReplicaSet): ReplicaSets {
  const { uid } = set.metadata;
  return {
    current: current?.metadata.uid === uid ? set : current,
    old: old.map((one) => (one.metadata.uid === uid ? set : one)),
  };
}
