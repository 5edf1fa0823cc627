/** How many pods a daemon set's update may remove or add at a time. */
import type { DaemonSet } from "../../resource/builtin/index.ts";
import { portionOf } from "../workload/portion.ts";

/** Whether a node may have two pods during an update. */
export function allowsSurge(set: DaemonSet): boolean {
  return limitsOf(set, 1).maxSurge > 0;
}

interface Limits {
  readonly maxSurge: number;
  readonly maxUnavailable: number;
}

/** Percentages are rounded up, and at least one of the two limits is 1. */
export function limitsOf({ spec }: DaemonSet, nodes: number): Limits {
  const { type, rollingUpdate } = spec.updateStrategy ?? {};
  const isRolling = type === "RollingUpdate" && rollingUpdate !== undefined;
  const maxSurge = isRolling ? portionOf(rollingUpdate.maxSurge, nodes, Math.ceil) : 0;
  const maxUnavailable = isRolling ? portionOf(rollingUpdate.maxUnavailable, nodes, Math.ceil) : 0;
  return { maxSurge, maxUnavailable: nodes > 0 && maxSurge === 0 ? Math.max(1, maxUnavailable) : maxUnavailable };
}
