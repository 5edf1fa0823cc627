/** Matches requests against rules and selectors. */
import { selects } from "../request/label-selector.ts";
import type { AdmissionAttributes, Fields, KindRow, KubeObject, WriteContext } from "../hooks.ts";
import type { Rule } from "./webhook.ts";

const exempt = new Set([
  "mutatingwebhookconfigurations",
  "validatingwebhookconfigurations",
  "validatingadmissionpolicies",
  "validatingadmissionpolicybindings",
  "mutatingadmissionpolicies",
  "mutatingadmissionpolicybindings",
]);

/** Whether the kind configures admission, and is therefore exempt from it. */
export function isExempt({ group, plural }: KindRow): boolean {
  return group === "admissionregistration.k8s.io" && exempt.has(plural);
}

interface Selectors {
  readonly namespaceSelector?: Fields;
  readonly objectSelector?: Fields;
}

export function matchesSelectors(selectors: Selectors, attributes: AdmissionAttributes): boolean {
  return namespaceMatches(selectors, attributes) && objectMatches(selectors, attributes);
}

/** Whether a rule matches. @param row the version of the kind as which the request is matched */
export function ruleMatches(rule: Rule, { operation, subresource }: WriteContext, row: KindRow): boolean {
  const has = (list: readonly string[] | undefined, wanted: string): boolean =>
    list?.some((one) => one === "*" || one === wanted) ?? false;
  if (rule.scope === "Cluster" && row.namespaced) return false;
  if (rule.scope === "Namespaced" && !row.namespaced) return false;
  if (!has(rule.operations, operation) || !has(rule.apiGroups, row.group) || !has(rule.apiVersions, row.version))
    return false;
  return (rule.resources ?? []).some((pattern) => {
    const [resource = "", sub = ""] = pattern.split("/");
    if (resource !== "*" && resource !== row.plural) return false;
    return sub === subresource || (sub === "*" && pattern.includes("/"));
  });
}

function namespaceMatches(
  { namespaceSelector }: Selectors,
  { context, object, oldObject }: AdmissionAttributes,
): boolean {
  if (isEmpty(namespaceSelector)) return true;
  const { row, namespace, reader } = context;
  const isNamespace = row.group === "" && row.kind === "Namespace";
  if (!row.namespaced && !isNamespace) return true;
  const subject = isNamespace
    ? (object ?? oldObject)
    : reader.get({ group: "", plural: "namespaces" }, { name: namespace });
  return matches(namespaceSelector, subject);
}

function objectMatches({ objectSelector }: Selectors, { object, oldObject }: AdmissionAttributes): boolean {
  if (isEmpty(objectSelector)) return true;
  return [object, oldObject].some((one) => one !== undefined && matches(objectSelector, one));
}

function isEmpty(selector: Fields | undefined): boolean {
  return selector === undefined || Object.values(selector).every((part) => Object.keys(part as object).length === 0);
}

function matches(selector: Fields | undefined, object: KubeObject | undefined): boolean {
  return selects(selector ?? {})(object?.metadata?.labels);
}
