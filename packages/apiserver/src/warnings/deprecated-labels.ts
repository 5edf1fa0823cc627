/** Warns of node labels that have new names, wherever nodes are selected by them. */
import type { Fields } from "../hooks.ts";
import { each } from "../validation/fill.ts";
import { labelValue } from "../validation/formats.ts";

const labels: Readonly<Record<string, string>> = {
  "beta.kubernetes.io/arch": 'deprecated since v1.14; use "kubernetes.io/arch" instead',
  "beta.kubernetes.io/os": 'deprecated since v1.14; use "kubernetes.io/os" instead',
  "failure-domain.beta.kubernetes.io/region": 'deprecated since v1.17; use "topology.kubernetes.io/region" instead',
  "failure-domain.beta.kubernetes.io/zone": 'deprecated since v1.17; use "topology.kubernetes.io/zone" instead',
  "beta.kubernetes.io/instance-type": 'deprecated since v1.17; use "node.kubernetes.io/instance-type" instead',
  "app.kubernetes.io/created-by": "deprecated since v1.9",
  "scheduler.alpha.kubernetes.io/preferAvoidPods": "deprecated since v1.22; use Taints and Tolerations instead",
  "node-role.kubernetes.io/master": 'use "node-role.kubernetes.io/control-plane" instead',
};

/** Returns advice about a deprecated label; `undefined` for other labels. */
export function labelAdvice(label: unknown): string | undefined {
  return typeof label === "string" && Object.hasOwn(labels, label) ? labels[label] : undefined;
}

/** Returns the warnings of a map of labels, such as a node selector. */
export function warningsOfMap(map: Fields, at: (label: string) => string): string[] {
  return Object.keys(map).flatMap((label) => {
    const advice = labelAdvice(label);
    return advice === undefined ? [] : [`${at(label)}: ${advice}`];
  });
}

/** Returns the warnings of the expressions of a term or selector. */
export function warningsOfExpressions(
  term: Fields,
  path: string,
  { checksValues = false }: { readonly checksValues?: boolean } = {},
): string[] {
  return each(term, "matchExpressions").flatMap((expression, index) => {
    const at = `${path}.matchExpressions[${index}]`;
    const advice = labelAdvice(expression["key"]);
    const warnings = advice === undefined ? [] : [`${at}.key: ${String(expression["key"])} is ${advice}`];
    if (!checksValues) return warnings;
    const values = (expression["values"] ?? []) as string[];
    const wrong = values.flatMap((value, place) =>
      labelValue(value).map((why) => `${at}.values[${place}]: ${value} is invalid, ${why}`),
    );
    return [...warnings, ...wrong];
  });
}
