/**
 * Reads admission policies and their bindings from the storage. @see
 * https://kubernetes.io/docs/reference/access-authn-authz/validating-admission-policy/
 */
import type { Fields, KubeObject, Reader } from "../../hooks.ts";
import type { Rule } from "../webhook.ts";
import type { Variable } from "./expressions.ts";

export interface NamedRule extends Rule {
  readonly resourceNames?: readonly string[];
}

export interface Constraints {
  readonly resourceRules?: readonly NamedRule[];
  readonly excludeResourceRules?: readonly NamedRule[];
  readonly matchPolicy?: string;
  readonly namespaceSelector?: Fields;
  readonly objectSelector?: Fields;
}

export interface ParamKind {
  readonly apiVersion: string;
  readonly kind: string;
}

export interface ParamRef {
  readonly name?: string;
  readonly namespace?: string;
  readonly selector?: Fields;
  readonly parameterNotFoundAction?: string;
}

export interface PolicySpec {
  readonly paramKind?: ParamKind;
  readonly matchConstraints?: Constraints;
  readonly matchConditions?: readonly Variable[];
  readonly variables?: readonly Variable[];
  readonly failurePolicy?: string;
  readonly validations?: readonly Validation[];
  readonly auditAnnotations?: readonly { readonly key: string; readonly valueExpression: string }[];
  readonly mutations?: readonly Mutation[];
  readonly reinvocationPolicy?: string;
}

export interface Validation {
  readonly expression: string;
  readonly message?: string;
  readonly messageExpression?: string;
  readonly reason?: string;
}

export interface Mutation {
  readonly patchType: string;
  readonly jsonPatch?: { readonly expression: string };
  readonly applyConfiguration?: { readonly expression: string };
}

export interface BindingSpec {
  readonly policyName: string;
  readonly paramRef?: ParamRef;
  readonly matchResources?: Constraints;
  readonly validationActions?: readonly string[];
}

export interface Bound<Spec> {
  readonly name: string;
  readonly spec: Spec;
}

export interface BoundPolicy extends Bound<PolicySpec> {
  readonly bindings: readonly Bound<BindingSpec>[];
}

const group = "admissionregistration.k8s.io";

/** Returns the policies that have bindings, by name. */
export function policiesOf(reader: Reader, kind: "validating" | "mutating"): readonly BoundPolicy[] {
  const bindings = reader.list({ group, plural: `${kind}admissionpolicybindings` });
  if (bindings.length === 0) return [];
  const policies = reader.list({ group, plural: `${kind}admissionpolicies` });
  return byName(policies).flatMap((policy) => {
    const name = policy.metadata.name ?? "";
    const own = byName(bindings)
      .map((binding) => ({ name: binding.metadata.name ?? "", spec: binding["spec"] as BindingSpec }))
      .filter(({ spec }) => spec.policyName === name);
    return own.length === 0 ? [] : [{ name, spec: policy["spec"] as PolicySpec, bindings: own }];
  });
}

function byName(objects: readonly KubeObject[]): readonly KubeObject[] {
  return objects.toSorted((one, other) => ((one.metadata.name ?? "") < (other.metadata.name ?? "") ? -1 : 1));
}
