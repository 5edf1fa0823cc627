/** How many pods a daemon set's update may remove or add at a time. */
import type { DaemonSet, IntOrString } from "../../resource/builtin/index.ts";

/** Whether a node may have two pods during an update. */
export function allowsSurge(set: DaemonSet): boolean {
  return limitsOf(set, 1).maxSurge > 0;
}

export interface Limits {
  readonly maxSurge: number;
  readonly maxUnavailable: number;
}

/** Percentages are rounded up, and at least one of the two limits is 1. */
export function limitsOf({ spec }: DaemonSet, nodes: number): Limits {
  const { type, rollingUpdate } = spec.updateStrategy ?? {};
  const isRolling = type === "RollingUpdate" && rollingUpdate !== undefined;
  const maxSurge = isRolling ? scaled(rollingUpdate.maxSurge, nodes) : 0;
  const maxUnavailable = isRolling ? scaled(rollingUpdate.maxUnavailable, nodes) : 0;
  return { maxSurge, maxUnavailable: nodes > 0 && maxSurge === 0 ? Math.max(1, maxUnavailable) : maxUnavailable };
}

function scaled(value: IntOrString | undefined, nodes: number): number {
  if (value === undefined) return 0;
  return typeof value === "number" ? value : Math.ceil((Number.parseInt(value, 10) * nodes) / 100);
}
