/** Validates ResourceQuotas. */
import type { Field } from "../field.ts";
import { inner } from "../fill.ts";
import { qualifiedName } from "../formats.ts";
import { isNegative } from "../quantities.ts";
import { isQuotaResource, isStandardResource } from "./resource-rules.ts";
import type { Rules } from "../rules.ts";

const whole =
  /^(pods|services|replicationcontrollers|resourcequotas|secrets|configmaps|persistentvolumeclaims|services\.(nodeports|loadbalancers)|count\/.*)$/;
const scopes = [
  "Terminating",
  "NotTerminating",
  "BestEffort",
  "NotBestEffort",
  "PriorityClass",
  "CrossNamespacePodAffinity",
  "VolumeAttributesClass",
];

/** Validates the name of a counted resource. */
function quotaName(entry: Field, name: string): void {
  const field = entry.with(name);
  const isNamed = field.matches(qualifiedName);
  if (name.includes("/")) return;
  if (isNamed && !isStandardResource(name)) field.invalid("must be a standard resource type or fully qualified", name);
  if (!isQuotaResource(name)) field.invalid("must be a standard resource for quota", name);
}

function quotaAmount(entry: Field, name: string): void {
  if (isNegative(entry.value)) entry.invalid("must be greater than or equal to 0", String(entry.value));
  else if (whole.test(name) && String(entry.value).endsWith("m"))
    entry.invalid("must be an integer", String(entry.value));
}

const ofPods = /^((requests|limits)\.)?(cpu|memory)$|^pods$/;
const ofClaims = /^(persistentvolumeclaims|requests\.storage)$/;

/** Whether a resource is counted for the objects that a scope is about. */
function fits(scope: string, resource: string): boolean {
  if (scope === "BestEffort") return resource === "pods";
  return (scope === "VolumeAttributesClass" ? ofClaims : ofPods).test(resource);
}

function quotaScopes(list: Field, hard: readonly string[]): void {
  const names = new Set(list.items.map(({ text }) => text));
  for (const scope of list.items) {
    if (!scopes.includes(scope.text)) list.invalid("unsupported scope", list.value);
    for (const name of hard.toSorted()) {
      if (!isStandardResource(name)) continue;
      if (scopes.includes(scope.text) && !fits(scope.text, name))
        list.invalid("unsupported scope applied to resource", list.value);
    }
  }
  for (const [one, other] of [
    ["BestEffort", "NotBestEffort"],
    ["Terminating", "NotTerminating"],
  ] as const)
    if (names.has(one) && names.has(other)) list.invalid("conflicting scopes", list.value);
}

function quotaSelector(spec: Field): void {
  const [selector, hard] = [spec.at("scopeSelector"), spec.at("hard").keys.toSorted()];
  const list = selector.at("matchExpressions");
  const scopeNames = new Set<string>();
  for (const expression of list.items) {
    const [scope, operator] = [expression.at("scopeName").text, expression.at("operator").text];
    const values = list.at("values").with(expression.at("values").value);
    if (!scopes.includes(scope)) list.at("scopeName").with(scope).invalid("unsupported scope", scope);
    for (const name of hard) {
      if (!isStandardResource(name) || !scopes.includes(scope)) continue;
      if (!fits(scope, name)) list.invalid("unsupported scope applied to resource");
    }
    if (unary.has(scope) && operator !== "Exists") {
      const names = [...unary].map((name) => `ResourceQuotaScope${name}`);
      const detail = `must be 'Exists' when scope is any of ${names.slice(0, -1).join(", ")} or ${names.at(-1)}`;
      list.at("operator").with(operator).invalid(detail, operator);
    }
    if (operator === "In" || operator === "NotIn") {
      const one = "must be at least one value when `operator` is 'In' or 'NotIn' for scope selector";
      if (values.empty) values.required(one);
    } else if (operator === "Exists" || operator === "DoesNotExist") {
      const none = "must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector";
      if (!values.empty) values.invalid(none, values.value);
    } else list.at("operator").with(operator).invalid("not a valid selector operator", operator);
    scopeNames.add(scope);
  }
  const earlier = spec.at("scopes").value ?? null;
  if (scopeNames.has("BestEffort") && scopeNames.has("NotBestEffort")) list.invalid("conflicting scopes", earlier);
  if (scopeNames.has("Terminating") && scopeNames.has("NotTerminating")) list.invalid("conflicting scopes", earlier);
}

const unary: ReadonlySet<string> = new Set([
  "Terminating",
  "NotTerminating",
  "BestEffort",
  "NotBestEffort",
  "CrossNamespacePodAffinity",
]);

export const quota: Rules = {
  check: (object) => {
    const hard = object.at("spec").at("hard");
    for (const name of hard.keys) {
      quotaName(hard.key(name), name);
      quotaAmount(hard.key(name), name);
    }
    const scopeList = object.at("spec").at("scopes");
    quotaScopes(scopeList, hard.keys);
    quotaSelector(object.at("spec"));
  },
  status: (object) => {
    for (const list of ["hard", "used"]) {
      const amounts = object.at("status").at(list);
      for (const name of amounts.keys) {
        quotaName(amounts.key(name), name);
        quotaAmount(amounts.key(name), name);
      }
    }
  },
  update: (object, old) => object.at("spec").at("scopes").immutable(inner(old, "spec")["scopes"]),
};
