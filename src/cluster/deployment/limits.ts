/** How many pods above and below the desired number a rollout may have. */
import type { Deployment_ } from "./run.ts";

type Amount = number | string | undefined;

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
export function limitsOf({ spec }: Deployment_): Limits {
  const replicas = spec.replicas ?? 1;
  const { type, rollingUpdate } = spec.strategy ?? {};
  if (type !== "RollingUpdate") return { maxSurge: 0, maxUnavailable: 0 };
  const maxSurge = amount(rollingUpdate?.maxSurge, replicas, Math.ceil);
  const unavailable = amount(rollingUpdate?.maxUnavailable, replicas, Math.floor);
  const maxUnavailable = maxSurge === 0 && unavailable === 0 ? 1 : unavailable;
  return { maxSurge, maxUnavailable: Math.min(maxUnavailable, replicas) };
}

function amount(value: Amount, of: number, round: (value: number) => number): number {
  return typeof value === "string" && value.endsWith("%")
    ? round((parseInt(value, 10) * of) / 100)
    : Number(value ?? 0);
}
