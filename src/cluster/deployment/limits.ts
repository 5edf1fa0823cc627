/** The numbers of pods above and below the desired one that a rollout may have. */
import type { Deployment, ReplicaSet } from "../../resource/builtin/index.ts";
import { sizeOf, total } from "./run.ts";
import { portionOf } from "../workload/portion.ts";

interface Limits {
  readonly maxSurge: number;
  readonly maxUnavailable: number;
}

/**
 * Percentages refer to the desired replicas; the surge is rounded up, the unavailable pods down. When both are 0, one
 * pod may be unavailable, because such a rollout would never end.
 *
 * @see https://kubernetes.io/docs/concepts/workloads/controllers/deployment/#rolling-update-deployment
 */
export function limitsOf({ spec }: Deployment): Limits {
  const replicas = spec.replicas ?? 1;
  const { type, rollingUpdate } = spec.strategy ?? {};
  if (type !== "RollingUpdate") return { maxSurge: 0, maxUnavailable: 0 };
  const maxSurge = portionOf(rollingUpdate?.maxSurge, replicas, Math.ceil);
  const unavailable = portionOf(rollingUpdate?.maxUnavailable, replicas, Math.floor);
  const maxUnavailable = maxSurge === 0 && unavailable === 0 ? 1 : unavailable;
  return { maxSurge, maxUnavailable: Math.min(maxUnavailable, replicas) };
}

/** Returns the size of the current ReplicaSet: as large as the surge allows, but never larger than desired. */
export function newSize({ spec, ...rest }: Deployment, old: readonly ReplicaSet[], size: number): number {
  const { replicas = 1 } = spec;
  if (spec.strategy?.type === "Recreate") return replicas;
  const room = replicas + limitsOf({ spec, ...rest }).maxSurge - total(old, sizeOf) - size;
  return room <= 0 ? size : size + Math.min(room, replicas - size);
}
