/** Which policies a request concerns, and with which parameters. */
import { labelSelector } from "../../../resource/selector.ts";
import type { AdmissionAttributes, KindRow, KubeObject } from "../../hooks.ts";
import { isExempt, matchesSelectors, ruleMatches } from "../rule-match.ts";
import { evaluate, scopeOf } from "./expressions.ts";
import type { BindingSpec, BoundPolicy, Constraints, NamedRule, ParamKind, PolicySpec } from "./policy.ts";

/** The kind that a paramKind names, where it is served. */
export type KindOf = (kind: ParamKind) => KindRow | undefined;

/** What a policy or a binding is about; everything where it says nothing. */
export function concerns(constraints: Constraints | undefined, attributes: AdmissionAttributes): boolean {
  if (constraints === undefined) return true;
  const { row } = attributes.context;
  if (isExempt(row)) return false;
  const { excludeResourceRules = [], resourceRules = [], matchPolicy } = constraints;
  if (!matchesSelectors(constraints, attributes)) return false;
  const matches = (rules: readonly NamedRule[]): boolean => rules.some((rule) => holds(rule, attributes, matchPolicy));
  return !matches(excludeResourceRules) && (resourceRules.length === 0 || matches(resourceRules));
}

function holds(rule: NamedRule, { context }: AdmissionAttributes, matchPolicy: string | undefined): boolean {
  const { resourceNames = [], apiVersions = [] } = rule;
  if (resourceNames.length > 0 && !resourceNames.includes(context.name)) return false;
  if (ruleMatches(rule, context, context.row.version)) return true;
  // Versions of a custom resource differ in nothing but what its converter changes.
  if (matchPolicy === "Exact" || !context.row.custom) return false;
  return apiVersions.some((version) => ruleMatches(rule, context, version));
}

/** Why a policy or a binding cannot be used: what `failurePolicy` is about. */
export class PolicyProblem extends Error {}

/** What a binding's expressions are run with, one after the other; `undefined` stands for no parameters. */
export function paramsOf(
  { spec: policy }: BoundPolicy,
  { paramRef }: BindingSpec,
  { attributes, kindOf }: { readonly attributes: AdmissionAttributes; readonly kindOf: KindOf },
): readonly (KubeObject | undefined)[] {
  const { paramKind } = policy;
  if (paramKind === undefined || paramRef === undefined) return [undefined];
  const row = kindOf(paramKind);
  if (row === undefined) throw unknownKind(paramKind);
  const { reader } = attributes.context;
  if (!row.namespaced && paramRef.namespace) {
    throw new PolicyProblem("paramRef.namespace must not be provided for a cluster-scoped `paramKind`");
  }
  const namespace = row.namespaced ? paramRef.namespace || attributes.context.namespace : "";
  if (row.namespaced && namespace === "") {
    throw new PolicyProblem("cannot use namespaced paramRef in policy binding that matches cluster-scoped resources");
  }
  const found = find();
  if (found.length === 0 && (paramRef.parameterNotFoundAction ?? "Deny") === "Deny") {
    throw new PolicyProblem("no params found for policy binding with `Deny` parameterNotFoundAction");
  }
  return found.map((one) => ({ ...one, apiVersion: paramKind.apiVersion, kind: paramKind.kind }));

  function find(): readonly KubeObject[] {
    if (paramRef!.name) {
      const one = reader.get(row!, { namespace, name: paramRef!.name });
      return one === undefined ? [] : [one];
    }
    const selector = labelSelector(paramRef!.selector ?? {});
    const all = reader.list(row!, row!.namespaced ? namespace : undefined);
    return all.filter(({ metadata }) => selector.matches(metadata.labels ?? {}));
  }
}

export function unknownKind({ apiVersion, kind }: ParamKind): PolicyProblem {
  const [group, version] = apiVersion.includes("/") ? apiVersion.split("/") : ["", apiVersion];
  const shown = `${group ? `${group}/` : "/"}${version}, Kind=${kind}`;
  return new PolicyProblem(`failed to find resource referenced by paramKind: '${shown}'`);
}

/** @throws Error when a condition fails and none is false */
export function conditionsOf(
  { matchConditions = [] }: Pick<PolicySpec, "matchConditions">,
  attributes: AdmissionAttributes,
  params: KubeObject | undefined,
): boolean {
  if (matchConditions.length === 0) return true;
  const scope = scopeOf(attributes, { params });
  const failures: string[] = [];
  for (const { expression } of matchConditions) {
    try {
      if (evaluate(expression, scope) !== true) return false;
    } catch (error) {
      failures.push(error instanceof Error ? error.message : String(error));
    }
  }
  if (failures.length === 0) return true;
  throw new PolicyProblem(failures.length === 1 ? failures[0] : `[${failures.join(", ")}]`);
}
