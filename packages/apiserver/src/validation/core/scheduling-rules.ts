/** Validates tolerations and topology spread constraints. */
import type { Field } from "../field.ts";
import { labelValue, qualifiedName } from "../formats.ts";
import { labelSelector } from "../selector-rules.ts";

const effects = ["NoSchedule", "PreferNoSchedule", "NoExecute"];

export function tolerations(list: Field): void {
  for (const toleration of list.items) {
    const [key, operator, effect] = [toleration.at("key"), toleration.at("operator"), toleration.at("effect")];
    const value = toleration.at("value").text;
    if (key.text !== "") key.matches(qualifiedName);
    else if (operator.text !== "Exists") {
      operator.invalid(
        'operator must be Exists when `key` is empty, which means "match all values and all keys"',
        operator.text,
      );
    }
    if (toleration.at("tolerationSeconds").present && effect.text !== "NoExecute") {
      effect.invalid("effect must be 'NoExecute' when `tolerationSeconds` is set", effect.text);
    }
    if (operator.text === "" || operator.text === "Equal") {
      const wrong = labelValue(value);
      if (wrong.length > 0) operator.invalid(wrong.join(";"), value);
    } else if (operator.text === "Exists") {
      if (value !== "") operator.invalid("value must be empty when `operator` is 'Exists'", value);
    } else if (operator.text === "Lt" || operator.text === "Gt")
      // They are known, and their feature is disabled.
      operator.add("NotSupported", 'supported values: "Equal", "Exists", "Lt", "Gt"', operator.text);
    else operator.oneOf(["Equal", "Exists"]);
    if (effect.text !== "") effect.oneOf(effects, { sorted: false });
  }
}

export function spread(list: Field): void {
  const pairs = list.items.map((each) => `{${each.at("topologyKey").text}, ${each.at("whenUnsatisfiable").text}}`);
  for (const [index, constraint] of list.items.entries()) {
    const [skew, key, when] = [
      constraint.at("maxSkew"),
      constraint.at("topologyKey"),
      constraint.at("whenUnsatisfiable"),
    ];
    if (skew.number <= 0) skew.invalid("must be greater than zero", skew.number);
    if (key.text === "") key.required("can not be empty");
    when.oneOf(["DoNotSchedule", "ScheduleAnyway"]);
    const pair = pairs[index] ?? "";
    if (pairs.includes(pair, index + 1)) constraint.at("{topologyKey, whenUnsatisfiable}").duplicate(pair);
    const domains = constraint.at("minDomains");
    if (domains.present) {
      if (domains.number <= 0) domains.invalid("must be greater than zero", domains.number);
      if (when.text !== "DoNotSchedule")
        domains.invalid(`can only use minDomains if whenUnsatisfiable=DoNotSchedule, not ${when.text}`);
    }
    for (const policy of ["nodeAffinityPolicy", "nodeTaintsPolicy"])
      if (constraint.at(policy).present) constraint.at(policy).oneOf(["Honor", "Ignore"]);
    labelKeys(constraint);
    if (constraint.at("labelSelector").present) labelSelector(constraint.at("labelSelector"));
  }
}

/** Validates keys whose values come from the pod's own labels. */
export function labelKeys(term: Field): void {
  const selector = term.at("labelSelector");
  for (const name of ["matchLabelKeys", "mismatchLabelKeys"]) {
    const list = term.at(name);
    if (list.empty) continue;
    if (!selector.present) list.forbidden("must not be specified when labelSelector is not set");
    else for (const key of list.items) key.matches(qualifiedName);
  }
  const keys = term.at("matchLabelKeys").items.map(({ text }) => text);
  if (selector.present) {
    const seen = new Set(selector.at("matchLabels").keys);
    for (const expression of selector.at("matchExpressions").items) {
      const key = expression.at("key").text;
      const index = keys.lastIndexOf(key);
      if (index >= 0 && seen.has(key))
        term.at(`[${index}]`).invalid("exists in both matchLabelKeys and labelSelector", key);
      seen.add(key);
    }
  }
  const others = term.at("mismatchLabelKeys").items.map(({ text }) => text);
  for (const key of term.at("matchLabelKeys").items) {
    if (others.includes(key.text)) key.invalid("exists in both matchLabelKeys and mismatchLabelKeys", key.text);
  }
}
