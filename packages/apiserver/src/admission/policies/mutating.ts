/** MutatingAdmissionPolicy. @see https://kubernetes.io/docs/reference/access-authn-authz/mutating-admission-policy/ */
import { deepEquals } from "#platform/equality";
import { asInteger } from "../../numbers.ts";
import type { AdmissionAttributes, AdmissionOptions, Fields, KubeObject } from "../../hooks.ts";
import { jsonPatch, PatchFailure } from "../../patch/json-patch.ts";
import { StatusError } from "../../status.ts";
import { refusal } from "../plugin.ts";
import { Budget, budgetOfRules } from "../../cel/cost-meter.ts";
import { evaluate, scopeOf, type Scope } from "./expressions.ts";
import { reverted } from "../equivalent.ts";
import { conditionsOf, paramsOf, policyMatch, PolicyProblem, seenByPolicy, unknownKind } from "./matching.ts";
import type { Bound, BindingSpec, BoundPolicy, Mutation } from "./policy.ts";
import { celLibrary } from "../../cel/library.ts";

interface Problem {
  readonly message: string;
  readonly isStrict: boolean;
}

export interface PolicyRun {
  /** Whether this is the second round, in which only policies that ask for reinvocation run. */
  readonly isAgain: boolean;
}

/**
 * Applies the policies to the object.
 *
 * @returns whether the object changed
 * @throws StatusError when a policy fails and its failure is not ignored
 */
export function applyPolicies(
  policies: readonly BoundPolicy[],
  attributes: AdmissionAttributes,
  { kindOf, merge, equivalents, isAgain }: PolicyRun & Pick<AdmissionOptions, "kindOf" | "merge" | "equivalents">,
): boolean {
  const before = attributes.object;
  const problems: Problem[] = [];
  for (const policy of policies) {
    // In the second round, the conditions of all policies are evaluated again: an error in one counts although the
    // policy does not run.
    const isOnlyChecked = isAgain && policy.spec.reinvocationPolicy !== "IfNeeded";
    const match = policyMatch(policy.spec.matchConstraints, attributes, equivalents);
    if (match === undefined) continue;
    const isStrict = policy.spec.failurePolicy !== "Ignore";
    const { paramKind } = policy.spec;
    if (paramKind !== undefined && kindOf(paramKind) === undefined) {
      const why = `failed to configure policy: ${unknownKind(paramKind).message}`;
      problems.push({ message: `policy ${JSON.stringify(policy.name)} denied request: ${why}`, isStrict });
      continue;
    }
    for (const binding of policy.bindings) {
      if (policyMatch(binding.spec.matchResources, attributes, equivalents) === undefined) continue;
      const seen = seenByPolicy(match, attributes);
      const { object } = seen;
      const failed = run(policy, binding, { attributes: seen, kindOf, merge, isOnlyChecked });
      if (seen !== attributes && seen.object !== undefined && seen.object !== object) {
        const next = reverted(match, seen.object, attributes.object);
        if (!(next instanceof Promise)) attributes.object = next;
      }
      const who = `policy '${policy.name}' with binding '${binding.name}'`;
      problems.push(...failed.map((why) => ({ message: `${who} denied request: ${why}`, isStrict })));
    }
  }
  const strict = problems.filter(({ isStrict }) => isStrict);
  if (strict.length > 0) throw denied(attributes, strict);
  return before !== attributes.object && !deepEquals(before, attributes.object);
}

interface Around extends Pick<AdmissionOptions, "kindOf" | "merge"> {
  readonly attributes: AdmissionAttributes;
  /** Whether conditions are evaluated and nothing is changed. */
  readonly isOnlyChecked: boolean;
}

function run(policy: BoundPolicy, binding: Bound<BindingSpec>, around: Around): string[] {
  const { attributes } = around;
  const failures: string[] = [];
  let all: readonly (KubeObject | undefined)[];
  try {
    all = paramsOf(policy, binding.spec, around);
  } catch (error) {
    if (!(error instanceof PolicyProblem)) throw error;
    return [`failed to configure binding: ${error.message}`];
  }
  for (const params of all) {
    try {
      if (!conditionsOf(policy.spec, attributes, params)) continue;
    } catch (error) {
      if (!(error instanceof PolicyProblem)) throw error;
      failures.push(error.message);
      continue;
    }
    for (const mutation of around.isOnlyChecked ? [] : (policy.spec.mutations ?? [])) {
      if (attributes.object === undefined) continue;
      const scope = scopeOf(attributes, { params, variables: policy.spec.variables ?? [] });
      try {
        attributes.object = mutated(mutation, attributes.object, { ...around, scope });
      } catch (error) {
        if (error instanceof StatusError) throw error;
        failures.push(error instanceof Error ? error.message : String(error));
      }
    }
  }
  return failures;
}

function mutated(
  { patchType, jsonPatch: patch, applyConfiguration }: Mutation,
  object: KubeObject,
  { attributes, merge, scope }: Around & { readonly scope: Scope },
): KubeObject {
  const budget = new Budget(budgetOfRules);
  if (patchType === "JSONPatch") {
    const operations = fromCel(evaluate(patch?.expression ?? "[]", scope, budget)) as Fields[];
    return patched(object, operations);
  }
  const configuration = fromCel(evaluate(applyConfiguration?.expression ?? "{}", scope, budget)) as Fields;
  const { apiVersion, kind } = object;
  return merge(attributes.matched ?? attributes.context.row, object, {
    ...configuration,
    apiVersion,
    kind,
  } as KubeObject);
}

function patched(object: KubeObject, operations: readonly Fields[]): KubeObject {
  try {
    return jsonPatch(object, operations) as KubeObject;
  } catch (error) {
    const isFailure = error instanceof PatchFailure;
    // A test that fails leaves the object as it is.
    if (isFailure && error.isFailedTest) return object;
    const why = isFailure ? error.why : error instanceof Error ? error.message : String(error);
    throw new Error(`JSON Patch: ${why}`, { cause: error });
  }
}

function denied(attributes: AdmissionAttributes, problems: readonly Problem[]): StatusError {
  const { status } = refusal(attributes, "admission request denied by policy");
  return new StatusError(403, "Invalid", {
    message: problems[0]?.message ?? "",
    details: { ...status.details, causes: problems.map(({ message }) => ({ message })) },
  });
}

/** Converts a value to JSON; empty optionals are omitted. */
function fromCel(value: unknown): unknown {
  if (typeof value === "bigint") return asInteger(value);
  if (value instanceof Date) return value.toISOString();
  if (value instanceof celLibrary().Optional) return value.hasValue() ? fromCel(value.value()) : undefined;
  if (Array.isArray(value)) return value.map(fromCel).filter((item) => item !== undefined);
  if (typeof value !== "object" || value === null) return value;
  const entries = value instanceof Map ? [...value.entries()] : Object.entries(value);
  const fields = entries.map(([name, field]) => [String(name), fromCel(field)] as const);
  return Object.fromEntries(fields.filter(([, field]) => field !== undefined));
}
