/** What makes an API server a cluster: the controllers of pods, workloads, services, namespaces and garbage. */
import type { Definition } from "../index.ts";
import type { Clock } from "../platform/clock.ts";
import { kubelet } from "./pods/kubelet.ts";
import { nodeController } from "./pods/node.ts";
import type { PodBehaviour } from "./pods/pod-behaviour.ts";
import { scheduler } from "./pods/scheduler.ts";

/** How a cluster of controllers behaves. */
export interface ClusterOptions {
  /** What deadlines, ages and schedules are measured with; give the manager that runs the controllers the same. @default systemClock */
  readonly clock?: Clock | undefined;
  /** How pods fare; `false` for none: no scheduler, no node, pods stay pending. @default every container runs and is ready at once */
  readonly pods?: PodBehaviour | false | undefined;
}

/** The controllers of a cluster, to be run by one manager. */
export function clusterControllers(options: ClusterOptions): readonly Definition[] {
  return [...podControllers(options)];
}

/** Those of pods: a node, a scheduler and a kubelet. */
export function podControllers({ clock, pods }: ClusterOptions): readonly Definition[] {
  if (pods === false) return [];
  return [nodeController({ clock }), scheduler({ clock }), kubelet({ clock, behaviour: pods })];
}
