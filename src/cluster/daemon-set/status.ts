/** Computes the status of a daemon set from its pods. */
import type { DaemonSet, DaemonSetStatus } from "../../resource/builtin/index.ts";
import { isAvailable, isReady } from "../workload/pod-state.ts";
import { isUpdated } from "./daemon-pod.ts";
import { byPlace, fitFor, type Situation } from "./placement.ts";

export function statusOf(set: DaemonSet, { nodes, byNode, hash, now }: Situation): Omit<DaemonSetStatus, "conditions"> {
  const { minReadySeconds } = set.spec;
  let [desired, current, misscheduled, ready, updated, available] = [0, 0, 0, 0, 0, 0];
  for (const node of nodes) {
    const oldest = byNode.get(node.metadata.name)?.toSorted(byPlace)[0];
    if (!fitFor(set, node).shouldRun) {
      if (oldest !== undefined) misscheduled++;
      continue;
    }
    desired++;
    if (oldest === undefined) continue;
    current++;
    if (isReady(oldest)) ready++;
    if (isAvailable(oldest, { minReadySeconds, now })) available++;
    if (isUpdated(set, oldest, hash)) updated++;
  }
  return {
    observedGeneration: set.metadata.generation,
    desiredNumberScheduled: desired,
    currentNumberScheduled: current,
    numberMisscheduled: misscheduled,
    numberReady: ready,
    updatedNumberScheduled: updated || undefined,
    numberAvailable: available || undefined,
    numberUnavailable: desired - available || undefined,
  };
}
