/** Validates selectors of labels, nodes and topology. */
import type { Field } from "./field.ts";
import { labelValue, qualifiedName } from "./formats.ts";
import { validateLabels } from "./metadata.ts";

export function labelSelector(selector: Field): void {
  validateLabels(selector.at("matchLabels"));
  for (const requirement of selector.at("matchExpressions").items) {
    const [operator, values] = [requirement.at("operator"), requirement.at("values")];
    if (operator.text === "In" || operator.text === "NotIn") {
      if (values.empty) values.required("must be specified when `operator` is 'In' or 'NotIn'");
    } else if (operator.text === "Exists" || operator.text === "DoesNotExist") {
      if (!values.empty) values.forbidden("may not be specified when `operator` is 'Exists' or 'DoesNotExist'");
    } else {
      operator.invalid("not a valid selector operator", operator.text);
    }
    requirement.at("key").matches(qualifiedName);
    for (const value of values.items) value.matches(labelValue);
  }
}

export function nodeSelector(selector: Field): void {
  const terms = selector.at("nodeSelectorTerms");
  if (terms.empty) return terms.required("must have at least one node selector term");
  for (const term of terms.items) nodeSelectorTerm(term);
}

/** Validates a term. @param isPreferred allows values that no node's label can have */
export function nodeSelectorTerm(term: Field, isPreferred = false): void {
  for (const requirement of term.at("matchExpressions").items) {
    nodeRequirement(requirement);
    requirement.at("key").matches(qualifiedName);
    if (!isPreferred) for (const value of requirement.at("values").items) value.matches(labelValue);
  }
  for (const requirement of term.at("matchFields").items) {
    const [key, operator, values] = [requirement.at("key"), requirement.at("operator"), requirement.at("values")];
    if (operator.text !== "In" && operator.text !== "NotIn")
      operator.invalid("not a valid selector operator", operator.text);
    else if (values.items.length !== 1)
      values.required("must be only one value when `operator` is 'In' or 'NotIn' for node field selector");
    if (key.text !== "metadata.name") key.invalid("not a valid field selector key", key.text);
  }
}

function nodeRequirement(requirement: Field): void {
  const [operator, values] = [requirement.at("operator"), requirement.at("values")];
  switch (operator.text) {
    case "In":
    case "NotIn":
      if (values.empty) values.required("must be specified when `operator` is 'In' or 'NotIn'");
      return;
    case "Exists":
    case "DoesNotExist":
      if (!values.empty) values.forbidden("may not be specified when `operator` is 'Exists' or 'DoesNotExist'");
      return;
    case "Gt":
    case "Lt":
      if (values.items.length !== 1) values.required("must be specified single value when `operator` is 'Lt' or 'Gt'");
      return;
    default:
      operator.invalid("not a valid selector operator", operator.text);
  }
}
