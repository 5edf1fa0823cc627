/** Validates selectors in a review: RBAC ignores them, but errors in them are reported. */
import { parseLabels } from "../request/label-selector.ts";

export interface Requirement {
  readonly key?: string;
  readonly operator?: string;
  readonly values?: readonly string[] | null;
}

export interface Selector {
  readonly rawSelector?: string;
  readonly requirements?: readonly Requirement[] | null;
}

const field = "spec.resourceAttributes";

export function fieldSelectorProblem(selector: Selector | undefined): string | undefined {
  return problem("fieldSelector", selector, {
    isReadable: (text) => text.split(/(?<!\\),/).every((term) => term === "" || /!=|==?/.test(term)),
    isUsable: ({ operator = "", values }) => (operator === "In" || operator === "NotIn") && values?.length === 1,
  });
}

export function labelSelectorProblem(selector: Selector | undefined): string | undefined {
  return problem("labelSelector", selector, { isReadable: isLabelSelector, isUsable: isLabelRequirement });
}

interface Reading {
  readonly isReadable: (text: string) => boolean;
  readonly isUsable: (requirement: Requirement) => boolean;
}

/** Drops a selector whose text cannot be parsed, and requirements that are not understood. */
function problem(name: string, selector: Selector | undefined, { isReadable, isUsable }: Reading): string | undefined {
  const { rawSelector = "" } = selector ?? {};
  const requirements = selector?.requirements ?? [];
  const usable = requirements.filter(isUsable).length;
  const isWrong =
    requirements.length > 0 ? usable < requirements.length : rawSelector !== "" && !isReadable(rawSelector);
  if (!isWrong) return undefined;
  return `${field}.${name} ${usable > 0 ? "partially ignored" : "ignored"} due to parse error`;
}

function isLabelSelector(text: string): boolean {
  try {
    parseLabels(text);
    return true;
  } catch {
    return false;
  }
}

function isLabelRequirement({ key = "", operator = "", values: given }: Requirement): boolean {
  const values = given ?? [];
  const isKnown = ["In", "NotIn", "Exists", "DoesNotExist"].includes(operator);
  const takesValues = operator === "In" || operator === "NotIn";
  if (!isKnown || takesValues !== values.length > 0) return false;
  return isLabelSelector(`${key} in (${takesValues ? values.join(",") : "x"})`);
}
