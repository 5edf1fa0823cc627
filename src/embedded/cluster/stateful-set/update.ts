/** Which pods of a stateful set are next to get the new template: from the last one to the first. */
import type { IntOrString, Pod } from "../../../resource/builtin/index.ts";
import { revisionOf } from "./identity.ts";
import { isLeaving, type Members } from "./members.ts";

/**
 * The pods to delete, so that they come back with the template of the revision.
 *
 * @see https://kubernetes.io/docs/concepts/workloads/controllers/statefulset/#update-strategies
 */
export function nextToUpdate(members: Members, revision: string): Pod[] {
  const { set, replicas } = members;
  const { type, rollingUpdate } = set.spec.updateStrategy ?? {};
  if (type === "OnDelete") return [];
  const { partition = 0, maxUnavailable } = rollingUpdate ?? {};
  const allowed = scaled(maxUnavailable, replicas.length);
  const next: Pod[] = [];
  // Where there may be only one unavailable pod, those above the next one have to be well; others have no order.
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

/** A share of the replicas is rounded down, to one at least. */
function scaled(value: IntOrString | undefined, replicas: number): number {
  if (value === undefined) return 1;
  const count = typeof value === "number" ? value : Math.floor((Number.parseInt(value, 10) * replicas) / 100);
  return Math.max(1, count);
}
