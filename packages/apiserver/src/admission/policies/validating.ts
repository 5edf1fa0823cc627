/** ValidatingAdmissionPolicy. @see https://kubernetes.io/docs/reference/access-authn-authz/validating-admission-policy/ */
import type { AdmissionAttributes, AdmissionOptions, KubeObject } from "../../hooks.ts";
import { StatusError } from "../../status.ts";
import { refusal } from "../plugin.ts";
import { evaluate, scopeOf, type Scope } from "./expressions.ts";
import {
  conditionsOf,
  type KindOf,
  paramsOf,
  policyMatch,
  PolicyProblem,
  seenByPolicy,
  unknownKind,
} from "./matching.ts";
import type { Bound, BindingSpec, BoundPolicy, Validation } from "./policy.ts";

interface Denial {
  readonly policy: string;
  readonly binding: string | undefined;
  readonly message: string;
  readonly reason?: string | undefined;
}

/** Runs the policies; the first denial decides. @throws StatusError */
export function checkPolicies(
  policies: readonly BoundPolicy[],
  attributes: AdmissionAttributes,
  { kindOf, equivalents }: Pick<AdmissionOptions, "kindOf" | "equivalents">,
): void {
  const denials: Denial[] = [];
  for (const policy of policies) {
    const match = policyMatch(policy.spec.matchConstraints, attributes, equivalents);
    if (match === undefined) continue;
    const { paramKind } = policy.spec;
    if (paramKind !== undefined && kindOf(paramKind) === undefined) {
      if (policy.spec.failurePolicy !== "Ignore") {
        const message = `failed to configure policy: ${unknownKind(paramKind).message}`;
        denials.push({ policy: policy.name, binding: undefined, message });
      }
      continue;
    }
    for (const binding of policy.bindings) {
      if (policyMatch(binding.spec.matchResources, attributes, equivalents) === undefined) continue;
      denials.push(...deniedBy(policy, binding, { attributes: seenByPolicy(match, attributes), kindOf }));
    }
  }
  const [first] = denials;
  if (first !== undefined) throw denied(attributes, first);
}

interface Around {
  readonly attributes: AdmissionAttributes;
  readonly kindOf: KindOf;
}

function deniedBy(policy: BoundPolicy, binding: Bound<BindingSpec>, around: Around): Denial[] {
  const { attributes } = around;
  const place = { policy: policy.name, binding: binding.name };
  const isStrict = policy.spec.failurePolicy !== "Ignore";
  let all: readonly (KubeObject | undefined)[];
  try {
    all = paramsOf(policy, binding.spec, around);
  } catch (error) {
    if (!(error instanceof PolicyProblem)) throw error;
    return isStrict ? [{ ...place, message: `failed to configure binding: ${error.message}` }] : [];
  }
  const denials: Denial[] = [];
  for (const params of all) {
    const failures = failuresOf(policy, { attributes, params });
    for (const { message, reason, isError } of failures.validations) {
      if (isError && !isStrict) continue;
      const actions = binding.spec.validationActions ?? [];
      if (actions.includes("Deny")) denials.push({ ...place, message, reason });
      if (actions.includes("Warn")) {
        const who = `ValidatingAdmissionPolicy '${policy.name}' with binding '${binding.name}'`;
        attributes.context.warn(`Validation failed for ${who}: ${message}`);
      }
    }
    // A missing annotation denies the request whatever the actions are, because without it the request cannot be
    // audited.
    if (isStrict) denials.push(...failures.annotations.map((message) => ({ ...place, message })));
  }
  return denials;
}

interface Failure {
  readonly message: string;
  readonly reason?: string | undefined;
  /** Whether the expression itself failed. */
  readonly isError?: boolean;
}

interface Failures {
  readonly validations: readonly Failure[];
  readonly annotations: readonly string[];
}

function failuresOf(
  { spec }: BoundPolicy,
  { attributes, params }: { readonly attributes: AdmissionAttributes; readonly params: KubeObject | undefined },
): Failures {
  const none: Failures = { validations: [], annotations: [] };
  try {
    if (!conditionsOf(spec, attributes, params)) return none;
  } catch (error) {
    if (!(error instanceof PolicyProblem)) throw error;
    return { ...none, validations: [{ message: error.message, isError: true }] };
  }
  const scope = scopeOf(attributes, { params, variables: spec.variables ?? [] });
  const validations = (spec.validations ?? []).map((validation) => failureOf(validation, scope));
  const annotations = (spec.auditAnnotations ?? []).map(({ valueExpression }) =>
    annotationProblem(valueExpression, scope),
  );
  return {
    validations: validations.filter((failure) => failure !== undefined),
    annotations: annotations.filter((problem) => problem !== undefined),
  };
}

function failureOf(validation: Validation, scope: Scope): Failure | undefined {
  try {
    if (evaluate(validation.expression, scope) === true) return undefined;
  } catch (error) {
    return { message: (error as Error).message, isError: true };
  }
  const message =
    said(validation.messageExpression, scope) ||
    validation.message?.trim() ||
    `failed expression: ${validation.expression.trim()}`;
  return { message, reason: validation.reason };
}

/** A message that is longer, or that has several lines, is ignored. */
const longest = 5 * 1024;

function said(expression: string | undefined, scope: Scope): string {
  if (!expression) return "";
  try {
    const value = evaluate(expression, scope);
    const text = typeof value === "string" ? value.trim() : "";
    return text.includes("\n") || Buffer.byteLength(text) > longest ? "" : text;
  } catch {
    return "";
  }
}

function annotationProblem(expression: string, scope: Scope): string | undefined {
  try {
    evaluate(expression, scope);
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

const codes: Readonly<Record<string, number>> = { Forbidden: 403, Unauthorized: 401, RequestEntityTooLarge: 413 };

function denied(
  attributes: AdmissionAttributes,
  { policy, binding, message, reason = "Invalid" }: Denial,
): StatusError {
  const who = `ValidatingAdmissionPolicy '${policy}'${binding === undefined ? "" : ` with binding '${binding}'`}`;
  const why = `${who} denied request: ${message}`;
  const { status } = refusal(attributes, why);
  return new StatusError(codes[reason] ?? 422, reason, {
    message: status.message ?? "",
    details: { ...status.details, causes: [{ message: why }] },
  });
}
