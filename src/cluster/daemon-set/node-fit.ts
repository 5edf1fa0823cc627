/** Whether a daemon's pod may run on a node: its name, its labels, its taints. */
import type {
  Node,
  NodeSelectorRequirement,
  NodeSelectorTerm,
  PodSpec,
  Taint,
  Toleration,
} from "../../resource/builtin/index.ts";

/** What a node means for a daemon. */
export interface Fit {
  /** A pod belongs on it. */
  readonly shouldRun: boolean;
  /** One that is there already may stay. */
  readonly mayStay: boolean;
}

const REFUSED: Fit = { shouldRun: false, mayStay: false };

/** How a pod, with the tolerations that it will have, fits a node. */
export function fitOf(spec: PodSpec, node: Node): Fit {
  if (spec.nodeName && spec.nodeName !== node.metadata.name) return REFUSED;
  if (!matchesLabels(spec, node)) return REFUSED;
  const taints = node.spec?.taints ?? [];
  const untolerated = taints.filter((taint) => !spec.tolerations?.some((toleration) => tolerates(toleration, taint)));
  const shouldRun = untolerated.every(({ effect }) => effect !== "NoExecute" && effect !== "NoSchedule");
  return { shouldRun, mayStay: shouldRun || untolerated.every(({ effect }) => effect !== "NoExecute") };
}

function matchesLabels({ nodeSelector = {}, affinity }: PodSpec, node: Node): boolean {
  const labels = node.metadata.labels ?? {};
  for (const [key, value] of Object.entries(nodeSelector)) {
    if (!Object.hasOwn(labels, key) || labels[key] !== value) return false;
  }
  const required = affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  return required === undefined || required.nodeSelectorTerms.some((term) => matchesTerm(term, node));
}

/** A term without any requirement matches no node. */
function matchesTerm({ matchExpressions = [], matchFields = [] }: NodeSelectorTerm, node: Node): boolean {
  if (matchExpressions.length === 0 && matchFields.length === 0) return false;
  const labels = node.metadata.labels ?? {};
  const fields: Readonly<Record<string, string>> = { "metadata.name": node.metadata.name };
  return (
    matchExpressions.every((requirement) => meets(labels, requirement)) &&
    matchFields.every((requirement) => meets(fields, requirement))
  );
}

function meets(values: Readonly<Record<string, string>>, requirement: NodeSelectorRequirement): boolean {
  const { key, operator, values: wanted = [] } = requirement;
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
      return compare(value, wanted[0], (a, b) => a > b);
    case "Lt":
      return compare(value, wanted[0], (a, b) => a < b);
    default:
      return false;
  }
}

function compare(
  value: string | undefined,
  bound: string | undefined,
  order: (a: bigint, b: bigint) => boolean,
): boolean {
  const isInteger = (text: string | undefined): text is string => text !== undefined && /^[-+]?\d+$/.test(text);
  return isInteger(value) && isInteger(bound) && order(BigInt(value), BigInt(bound));
}

/** @see https://kubernetes.io/docs/concepts/scheduling-eviction/taint-and-toleration/ */
function tolerates({ key, operator, value, effect }: Toleration, taint: Taint): boolean {
  if (effect && effect !== taint.effect) return false;
  if (key && key !== taint.key) return false;
  if (operator === "Exists") return true;
  return (!operator || operator === "Equal") && (value ?? "") === (taint.value ?? "");
}
