/** Decides which pods of a stateful set get the new template next, from the last one to the first. */
import type { Pod } from "../../resource/builtin/index.ts";
import { portionOf } from "../workload/portion.ts";
import { revisionOf } from "./identity.ts";
import { isLeaving, type Members } from "./members.ts";

/**
 * Returns the pods to delete, so that they are created again with the template of the revision.
 *
 * @see https://kubernetes.io/docs/concepts/workloads/controllers/statefulset/#update-strategies
 */
export function nextToUpdate(members: Members, revision: string): Pod[] {
  const { set, replicas } = members;
  const { type, rollingUpdate } = set.spec.updateStrategy ?? {};
  if (type === "OnDelete") return [];
  const { partition = 0, maxUnavailable } = rollingUpdate ?? {};
  const allowed = Math.max(1, portionOf(maxUnavailable, replicas.length, Math.floor));
  const next: Pod[] = [];
  // With one unavailable pod at most, the pods above the next one must be available; otherwise there is no order.
  const isStrict = maxUnavailable === undefined;
  let unavailable = isStrict ? 0 : replicas.filter((pod) => members.isUnavailable(pod)).length;
  for (let index = replicas.length - 1; index >= partition && unavailable < allowed; index--) {
    const pod = replicas[index];
    if (pod !== undefined && revisionOf(pod) !== revision && !isLeaving(pod)) {
      next.push(pod);
      unavailable++;
    } else if (isStrict && members.isUnavailable(pod)) unavailable++;
  }
  return next;
}
