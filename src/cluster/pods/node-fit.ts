/** Decides whether a pod may run on a node, by those rules of the scheduler that need no machine. */
import type { Node, NodeSelectorTerm, Pod, PodSpec, Taint, Toleration } from "../../resource/builtin/index.ts";

/** The taint of a cordoned node, which every DaemonSet tolerates. */
const UNSCHEDULABLE: Taint = { key: "node.kubernetes.io/unschedulable", effect: "NoSchedule" };

/** Returns in the scheduler's words why a pod cannot run on a node; `undefined` when it can. */
export function unfit(pod: Pod, node: Node): string | undefined {
  const { tolerations = [] } = pod.spec;
  if (node.spec?.unschedulable === true && !isTolerated(UNSCHEDULABLE, tolerations)) {
    return "node(s) were unschedulable";
  }
  if (!isSelected(pod.spec, node)) return "node(s) didn't match Pod's node affinity/selector";
  const taints = node.spec?.taints?.filter(({ effect }) => effect !== "PreferNoSchedule") ?? [];
  return taints.every((taint) => isTolerated(taint, tolerations)) ? undefined : "node(s) had untolerated taint(s)";
}

/** @see https://kubernetes.io/docs/concepts/scheduling-eviction/taint-and-toleration/ */
export function isTolerated(taint: Taint, tolerations: readonly Toleration[]): boolean {
  return tolerations.some(({ key = "", operator = "Equal", value = "", effect = "" }) => {
    if (effect !== "" && effect !== taint.effect) return false;
    if (key === "") return operator === "Exists";
    return key === taint.key && (operator === "Exists" || value === (taint.value ?? ""));
  });
}

/** Whether a node has the labels and the name that a pod requires. */
export function isSelected({ nodeSelector = {}, affinity }: PodSpec, node: Node): boolean {
  const labels = node.metadata.labels ?? {};
  if (!Object.entries(nodeSelector).every(([key, value]) => labels[key] === value)) return false;
  const required = affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  return required === undefined || required.nodeSelectorTerms.some((term) => isMatch(term, node));
}

/** A term without requirements matches nothing. */
function isMatch({ matchExpressions = [], matchFields = [] }: NodeSelectorTerm, { metadata }: Node): boolean {
  if (matchExpressions.length + matchFields.length === 0) return false;
  return matches(matchExpressions, metadata.labels ?? {}) && matches(matchFields, { "metadata.name": metadata.name });
}

type Requirements = NonNullable<NodeSelectorTerm["matchExpressions"]>;

/** Label selectors do not serve here, because a node's name may be longer than a label's value. */
function matches(requirements: Requirements, values: Readonly<Record<string, string>>): boolean {
  return requirements.every(({ key, operator, values: wanted = [] }) => {
    const value = Object.hasOwn(values, key) ? values[key] : undefined;
    switch (operator) {
      case "In":
        return value !== undefined && wanted.includes(value);
      case "NotIn":
        return value === undefined || !wanted.includes(value);
      case "Exists":
        return value !== undefined;
      case "DoesNotExist":
        return value === undefined;
      case "Gt":
        return Number(value) > Number(wanted[0]);
      case "Lt":
        return Number(value) < Number(wanted[0]);
      default:
        return false;
    }
  });
}
