/** What makes an API server a cluster: the controllers of pods, workloads, services, namespaces and garbage. */
import type { Definition } from "../index.ts";
import type { Clock } from "../platform/clock.ts";
import type { PodBehaviour } from "./pods/pod-behaviour.ts";

/** How a cluster of controllers behaves. */
export interface ClusterOptions {
  /** What deadlines, ages and schedules are measured with; give the manager that runs the controllers the same. @default systemClock */
  readonly clock?: Clock | undefined;
  /** How pods fare; `false` for none: no scheduler, no node, pods stay pending. @default every container runs and is ready at once */
  readonly pods?: PodBehaviour | false | undefined;
}

/** The controllers of a cluster, to be run by one manager. */
export function clusterControllers(_options: ClusterOptions): readonly Definition[] {
  return [];
}
