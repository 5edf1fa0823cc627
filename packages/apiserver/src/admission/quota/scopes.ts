/** Decides which objects count towards a quota. @see https://kubernetes.io/docs/concepts/policy/resource-quotas/#quota-scopes */
import { isNumber } from "../../numbers.ts";
import type { Fields, KubeObject } from "../../hooks.ts";
import { each, has, inner } from "../../validation/fill.ts";

export interface Requirement {
  readonly scopeName: string;
  readonly operator: string;
  readonly values?: readonly string[];
}

/** Returns the requirements of a quota, all of which must hold. */
export function requirementsOf(quota: KubeObject): Requirement[] {
  const spec = inner(quota, "spec");
  const named = ((spec["scopes"] ?? []) as string[]).map((scopeName) => ({ scopeName, operator: "Exists" }));
  return [...named, ...(each(inner(spec, "scopeSelector"), "matchExpressions") as unknown as Requirement[])];
}

export function podScope({ scopeName, operator, values = [] }: Requirement, pod: KubeObject): boolean {
  const spec = inner(pod, "spec");
  switch (scopeName) {
    case "Terminating":
      return isTerminating(spec);
    case "NotTerminating":
      return !isTerminating(spec);
    case "BestEffort":
      return isBestEffort(pod);
    case "NotBestEffort":
      return !isBestEffort(pod);
    case "PriorityClass": {
      const name = String(spec["priorityClassName"] ?? "");
      if (operator === "Exists") return name !== "";
      if (operator === "DoesNotExist") return name === "";
      return operator === "In" ? name !== "" && values.includes(name) : name === "" || !values.includes(name);
    }
    case "CrossNamespacePodAffinity":
      return isAcrossNamespaces(inner(spec, "affinity"));
    default:
      return false;
  }
}

function isTerminating(spec: Fields): boolean {
  const seconds = spec["activeDeadlineSeconds"];
  return isNumber(seconds) && Number(seconds) >= 0;
}

function isBestEffort(pod: KubeObject): boolean {
  return inner(pod, "status")["qosClass"] === "BestEffort";
}

function isAcrossNamespaces(affinity: Fields): boolean {
  return ["podAffinity", "podAntiAffinity"].some((kind) => {
    const terms = inner(affinity, kind);
    const all = [
      ...each(terms, "requiredDuringSchedulingIgnoredDuringExecution"),
      ...each(terms, "preferredDuringSchedulingIgnoredDuringExecution").map((term) => inner(term, "podAffinityTerm")),
    ];
    return all.some((term) => ((term["namespaces"] ?? []) as unknown[]).length > 0 || has(term, "namespaceSelector"));
  });
}
