/** ValidatingAdmissionPolicy. @see https://kubernetes.io/docs/reference/access-authn-authz/validating-admission-policy/ */
import type { AdmissionAttributes, AdmissionOptions, KubeObject } from "../../hooks.ts";
import { StatusError } from "../../status.ts";
import { refusal } from "../plugin.ts";
import { Budget, budgetOfRules } from "../../cel/cost-meter.ts";
import { afresh, evaluate, OutOfBudget, scopeOf, type Scope } from "./expressions.ts";
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
  const scope = scopeOf(attributes, {
    params,
    ...(spec.variables === undefined ? {} : { variables: spec.variables }),
  });
  try {
    const validations = validationFailures(spec.validations ?? [], scope);
    const budget = new Budget(budgetOfRules);
    const own = afresh(scope);
    const annotations = (spec.auditAnnotations ?? []).map(({ valueExpression }) =>
      attempt(valueExpression, own, budget),
    );
    return { validations, annotations: annotations.flatMap(({ problem }) => problem ?? []) };
  } catch (error) {
    if (!(error instanceof OutOfBudget)) throw error;
    return { ...none, validations: [{ message: error.message, isError: true }] };
  }
}

/** @throws OutOfBudget when the expressions of the validations cost too much; their messages may */
function validationFailures(validations: readonly Validation[], scope: Scope): Failure[] {
  const budget = new Budget(budgetOfRules);
  const results = validations.map(({ expression }) => attempt(expression, scope, budget));
  const messages = messagesOf(validations, afresh(scope), budget);
  return results.flatMap(({ value, problem }, index): Failure[] => {
    if (problem !== undefined) return [{ message: problem, isError: true }];
    if (messages instanceof OutOfBudget)
      return [{ message: `failed messageExpression: ${messages.message}`, isError: true }];
    if (value === true) return [];
    const { message = "", expression, reason } = validations[index]!;
    const text = messages[index] || message.trim() || `failed expression: ${expression.trim()}`;
    return [{ message: text, reason }];
  });
}

/** Evaluates an expression. @returns its value, or why it has none */
function attempt(
  expression: string,
  scope: Scope,
  budget: Budget,
): { readonly value?: unknown; readonly problem?: string } {
  try {
    return { value: evaluate(expression, scope, budget) };
  } catch (error) {
    if (error instanceof OutOfBudget) throw error;
    return { problem: (error as Error).message };
  }
}

/** The most characters of a message: a longer one is ignored, and so is one with several lines. */
const longest = 5 * 1024;

/** Evaluates all messages, also those that nobody needs, because what they cost together counts. */
function messagesOf(validations: readonly Validation[], scope: Scope, budget: Budget): string[] | OutOfBudget {
  try {
    return validations.map(({ messageExpression }) => {
      if (!messageExpression) return "";
      const { value } = attempt(messageExpression, scope, budget);
      const text = typeof value === "string" ? value.trim() : "";
      return text.includes("\n") || Buffer.byteLength(text) > longest ? "" : text;
    });
  } catch (error) {
    if (error instanceof OutOfBudget) return error;
    throw error;
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
