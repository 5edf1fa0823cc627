/** Whether a pod may run on a node: what of the scheduler's rules needs no machine. */
import type { ObjectOf } from "../../index.ts";
import type { Node, NodeSelectorTerm, Pod, Taint, Toleration } from "../../resource/builtin/index.ts";
import { labelSelector } from "../../resource/selector.ts";

type Node_ = ObjectOf<typeof Node>;
type Pod_ = ObjectOf<typeof Pod>;

/** What every DaemonSet tolerates, and a cordoned node has. */
const UNSCHEDULABLE: Taint = { key: "node.kubernetes.io/unschedulable", effect: "NoSchedule" };

/** Why a pod cannot run on a node, in the scheduler's words; `undefined` when it can. */
export function unfit(pod: Pod_, node: Node_): string | undefined {
  const { tolerations = [] } = pod.spec;
  if (node.spec?.unschedulable === true && !isTolerated(UNSCHEDULABLE, tolerations)) {
    return "node(s) were unschedulable";
  }
  if (!isSelected(pod, node)) return "node(s) didn't match Pod's node affinity/selector";
  const taints = node.spec?.taints?.filter(({ effect }) => effect !== "PreferNoSchedule") ?? [];
  return taints.every((taint) => isTolerated(taint, tolerations)) ? undefined : "node(s) had untolerated taint(s)";
}

/** @see https://kubernetes.io/docs/concepts/scheduling-eviction/taint-and-toleration/ */
function isTolerated(taint: Taint, tolerations: readonly Toleration[]): boolean {
  return tolerations.some(({ key = "", operator = "Equal", value = "", effect = "" }) => {
    if (effect !== "" && effect !== taint.effect) return false;
    if (key === "") return operator === "Exists";
    return key === taint.key && (operator === "Exists" || value === (taint.value ?? ""));
  });
}

function isSelected(pod: Pod_, node: Node_): boolean {
  const { nodeSelector = {}, affinity } = pod.spec;
  const labels = node.metadata.labels ?? {};
  if (!Object.entries(nodeSelector).every(([key, value]) => labels[key] === value)) return false;
  const required = affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  return required === undefined || required.nodeSelectorTerms.some((term) => isMatch(term, node));
}

/** A term without any requirement matches nothing. */
function isMatch({ matchExpressions = [], matchFields = [] }: NodeSelectorTerm, { metadata }: Node_): boolean {
  if (matchExpressions.length + matchFields.length === 0) return false;
  return matches(matchExpressions, metadata.labels ?? {}) && matches(matchFields, { "metadata.name": metadata.name });
}

type Requirements = NonNullable<NodeSelectorTerm["matchExpressions"]>;

function matches(requirements: Requirements, values: Readonly<Record<string, string>>): boolean {
  return requirements.every(({ key, operator, values: wanted = [] }) => {
    if (operator !== "Gt" && operator !== "Lt") {
      return labelSelector({ matchExpressions: [{ key, operator, values: wanted }] }).matches(values);
    }
    const [value, bound] = [Number(values[key]), Number(wanted[0])];
    return operator === "Gt" ? value > bound : value < bound;
  });
}
