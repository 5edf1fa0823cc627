/** Finds the policies that apply to a request, and their parameters. */
import { selects } from "../../request/label-selector.ts";
import type { AdmissionAttributes, Equivalents, KindRow, KubeObject } from "../../hooks.ts";
import { type Match, matchOf, seenAs } from "../equivalent.ts";
import { isExempt, matchesSelectors } from "../rule-match.ts";
import { Budget, budgetOfConditions } from "../../cel/cost-meter.ts";
import { evaluate, OutOfBudget, scopeOf } from "./expressions.ts";
import type { BindingSpec, BoundPolicy, Constraints, NamedRule, ParamKind, PolicySpec } from "./policy.ts";

/** Returns the kind that a paramKind names, if it is served. */
export type KindOf = (kind: ParamKind) => KindRow | undefined;

/**
 * Returns how a policy or binding matches the request; without match constraints it matches every request.
 * `undefined` when it does not match.
 */
export function policyMatch(
  constraints: Constraints | undefined,
  attributes: AdmissionAttributes,
  equivalents: Equivalents,
): Match | undefined {
  if (constraints === undefined) return "own";
  const { row, name } = attributes.context;
  if (isExempt(row)) return undefined;
  const { excludeResourceRules = [], resourceRules = [], matchPolicy } = constraints;
  if (!matchesSelectors(constraints, attributes)) return undefined;
  const match = (rules: readonly NamedRule[]): Match | undefined => {
    const named = rules.filter(({ resourceNames = [] }) => resourceNames.length === 0 || resourceNames.includes(name));
    return matchOf(named, attributes, { matchPolicy, equivalents });
  };
  if (match(excludeResourceRules) !== undefined) return undefined;
  return resourceRules.length === 0 ? "own" : match(resourceRules);
}

/** Returns the request as a policy sees it; objects that only a conversion webhook could convert stay as they were sent. */
export function seenByPolicy(match: Match, attributes: AdmissionAttributes): AdmissionAttributes {
  const seen = seenAs(match, attributes);
  return seen instanceof Promise ? attributes : seen;
}

/** Thrown when a policy or binding cannot be used, which is where `failurePolicy` applies. */
export class PolicyProblem extends Error {}

/**
 * Returns the parameters with which a binding's expressions run, one run for each; `undefined` stands for a run
 * without.
 */
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
  const params = find();
  if (params.length === 0 && (paramRef.parameterNotFoundAction ?? "Deny") === "Deny") {
    throw new PolicyProblem("no params found for policy binding with `Deny` parameterNotFoundAction");
  }
  return params.map((one) => ({ ...one, apiVersion: paramKind.apiVersion, kind: paramKind.kind }));

  function find(): readonly KubeObject[] {
    if (paramRef!.name) {
      const one = reader.get(row!, { namespace, name: paramRef!.name });
      return one === undefined ? [] : [one];
    }
    const isSelected = selects(paramRef!.selector ?? {});
    const all = reader.list(row!, row!.namespaced ? namespace : undefined);
    return all.filter(({ metadata }) => isSelected(metadata.labels));
  }
}

export function unknownKind({ apiVersion, kind }: ParamKind): PolicyProblem {
  const [group, version] = apiVersion.includes("/") ? apiVersion.split("/") : ["", apiVersion];
  const kindText = `${group ? `${group}/` : "/"}${version}, Kind=${kind}`;
  return new PolicyProblem(`failed to find resource referenced by paramKind: '${kindText}'`);
}

/** Evaluates match conditions. @throws Error when a condition fails and none is false */
export function conditionsOf(
  { matchConditions = [] }: Pick<PolicySpec, "matchConditions">,
  attributes: AdmissionAttributes,
  params: KubeObject | undefined,
): boolean {
  if (matchConditions.length === 0) return true;
  // kube-apiserver evaluates these without the namespace.
  const scope = scopeOf(attributes, { params, hasNamespace: false });
  const budget = new Budget(budgetOfConditions);
  const failures: string[] = [];
  let isFalse = false;
  // All conditions are evaluated before any of them counts, because together they must stay within the budget.
  for (const { expression } of matchConditions) {
    try {
      isFalse = evaluate(expression, scope, budget) !== true || isFalse;
    } catch (error) {
      if (error instanceof OutOfBudget) throw new PolicyProblem(error.message);
      failures.push(error instanceof Error ? error.message : String(error));
    }
  }
  if (isFalse) return false;
  if (failures.length === 0) return true;
  const [first, ...more] = new Set(failures);
  throw new PolicyProblem(more.length === 0 ? first : `[${[first, ...more].join(", ")}]`);
}
