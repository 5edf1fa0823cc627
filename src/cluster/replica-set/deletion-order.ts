/** Decides which pods are deleted first when there are too many. */
import type { Pod } from "../../resource/builtin/index.ts";
import { byProgress, isActive, readySince, restartsOf } from "../workload/pod-state.ts";

/**
 * Sorts pods so that the first ones are missed the least: not on a node, not running, not ready, of low deletion cost,
 * doubled on their node, ready for a short time, often restarted, young.
 *
 * @param related the pods of the same Deployment, all ReplicaSets together
 * @see https://kubernetes.io/docs/concepts/workloads/controllers/replicaset/#pod-deletion-cost
 */
export function inDeletionOrder(
  pods: readonly Pod[],
  { related, now }: { readonly related: readonly Pod[]; readonly now: number },
): Pod[] {
  const onNode = new Map<string | undefined, number>();
  for (const pod of related) {
    if (isActive(pod)) onNode.set(pod.spec.nodeName, (onNode.get(pod.spec.nodeName) ?? 0) + 1);
  }
  const neighbours = (pod: Pod): number => onNode.get(pod.spec.nodeName) ?? 0;
  return [...pods].sort(
    (one, other) =>
      byProgress(one, other) ||
      deletionCost(one) - deletionCost(other) ||
      neighbours(other) - neighbours(one) ||
      age(readySince(one), now) - age(readySince(other), now) ||
      restartsOf(other) - restartsOf(one) ||
      age(Date.parse(one.metadata.creationTimestamp), now) - age(Date.parse(other.metadata.creationTimestamp), now) ||
      (one.metadata.uid < other.metadata.uid ? -1 : 1),
  );
}

function deletionCost({ metadata }: Pod): number {
  return Number(metadata.annotations?.["controller.kubernetes.io/pod-deletion-cost"] ?? 0) || 0;
}

/** Ages are compared on a logarithmic scale, and pods of about the same age by UID, which is a random choice. */
function age(since: number | undefined, now: number): number {
  if (since === undefined || now <= since) return -1;
  return Math.trunc(Math.log2((now - since) * 1_000_000));
}
