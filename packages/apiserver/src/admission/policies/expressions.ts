/** Evaluates the expressions of policies and of match conditions. @see https://kubernetes.io/docs/reference/using-api/cel/ */
import type { Environment } from "@marcbachmann/cel-js";
import { getOrInsert } from "../../get-or-insert.ts";
import type { AdmissionAttributes, KubeObject } from "../../hooks.ts";
import { admissionVariables } from "../../cel/admission-types.ts";
import { check, type Variables } from "../../cel/checker.ts";
import { type Budget, outOfBudget } from "../../cel/cost-meter.ts";
import { celEnvironment } from "../../cel/environment.ts";
import { type Program, programOf } from "../../cel/program.ts";
import { words } from "../../cel/rules.ts";
import { withoutLeadingDots } from "../../cel/tokens.ts";
import { remembered, type Type } from "../../cel/type.ts";
import { toCel } from "../../cel/values.ts";
import { reviewRequest } from "../admission-review.ts";
import { authorizerValue, registerAuthorizer } from "./authorizer.ts";
import { withoutMessages } from "./message-literals.ts";

/** The value in front of the dot of `jsonpatch.escapeKey`. */
class JsonPatchNamespace {
  readonly name = "jsonpatch";
}

/** The values that the expressions of a request see. */
export interface Scope {
  readonly values: Readonly<Record<string, unknown>>;
  /** The policy's own variables. */
  readonly variables: readonly Variable[];
  /** Returns what the variables have cost that were evaluated since the last call. */
  takeCost(): number;
}

/** Thrown when the expressions of one object or policy together cost more than their budget. */
export class OutOfBudget extends Error {
  constructor() {
    super(`validation ${outOfBudget}`);
  }
}

/** The programs of each policy, by its variables: their types decide what some expressions cost. */
const programs = new WeakMap<readonly Variable[], Map<string, Program>>();
const types = new WeakMap<readonly Variable[], Variables>();
const noVariables: readonly Variable[] = [];
const names = ["object", "oldObject", "request", "params", "namespaceObject", "variables", "authorizer"];
let environment: Environment | undefined;

function policyEnvironment(): Environment {
  if (environment !== undefined) return environment;
  environment = celEnvironment().clone();
  registerAuthorizer(environment);
  for (const name of names) environment.registerVariable(name, "dyn");
  environment
    .registerType("JsonPatchNamespace", { ctor: JsonPatchNamespace, fields: {} })
    .registerFunction("JsonPatchNamespace.escapeKey(string): string", (_: unknown, key: string) => escapeKey(key))
    .registerConstant("jsonpatch", "JsonPatchNamespace", new JsonPatchNamespace());
  return environment;
}

function program(expression: string, variables: readonly Variable[]): Program {
  const known = getOrInsert(programs, variables, () => new Map());
  // Webhooks have no variables, so theirs are kept with those of all others.
  if (known.size > 1000) known.clear();
  return getOrInsert(known, expression, () => {
    const { text, messages } = withoutMessages(expression);
    return programOf(text, {
      environment: policyEnvironment(),
      types: getOrInsert(types, variables, () => typesOf(variables)),
      messages,
    });
  });
}

/** Returns the types of the variables that the expressions of a policy see; one that does not compile has any. */
function typesOf(variables: readonly Variable[]): Variables {
  const own = new Map<string, Type>();
  const all = admissionVariables({ params: true, patches: true, variables: own });
  for (const { name, expression } of variables) {
    const { text, messages } = withoutMessages(expression);
    try {
      const { ast } = policyEnvironment().parse(withoutLeadingDots(text));
      own.set(name, remembered(check(ast, text, all, messages).type));
    } catch {
      continue;
    }
  }
  return all;
}

/** Escapes a key for a JSON pointer. */
function escapeKey(key: string): string {
  return key.replaceAll("~", "~0").replaceAll("/", "~1");
}

/**
 * Evaluates an expression.
 *
 * @throws Error in the server's words when it fails
 * @throws OutOfBudget when it costs more than is left, with the variables that it is the first to read
 */
export function evaluate(expression: string, scope: Scope, budget: Budget): unknown {
  const failed = (error: unknown): Error =>
    new Error(`expression '${expression}' resulted in error: ${words(error)}`, { cause: error });
  let compiled: Program;
  try {
    compiled = program(expression, scope.variables);
  } catch (error) {
    throw failed(error);
  }
  const { cost, value, error } = compiled.run(scope.values);
  if (!budget.pay(scope.takeCost()) || !budget.pay(cost)) throw new OutOfBudget();
  if (error !== undefined) throw failed(error);
  return value;
}

export interface ScopeOptions {
  readonly params?: KubeObject | undefined;
  /** @default none */
  readonly variables?: readonly Variable[];
  /** Whether `namespaceObject` is the namespace; it is empty otherwise. @default true */
  readonly hasNamespace?: boolean;
}

export interface Variable {
  readonly name: string;
  readonly expression: string;
}

/** Makes the variables of a request's expressions. Each variable of a policy is evaluated once, at its first use. */
export function scopeOf(
  attributes: AdmissionAttributes,
  { params, variables = noVariables, hasNamespace = true }: ScopeOptions = {},
): Scope {
  const { context, object, oldObject } = attributes;
  const { object: _, oldObject: __, uid: ___, ...request } = reviewRequest(attributes, "");
  const values = {
    object: toCel(object, undefined),
    oldObject: toCel(oldObject, undefined),
    request: toCel(request, undefined),
    params: toCel(params, undefined),
    namespaceObject: toCel(hasNamespace ? namespaceOf(attributes) : {}, undefined),
    authorizer: authorizerValue(context),
  };
  return withVariables(values, variables);
}

/** Returns the same scope, whose variables have not been evaluated yet. */
export function afresh({ values, variables }: Scope): Scope {
  return withVariables(values, variables);
}

function withVariables(values: Scope["values"], variables: readonly Variable[]): Scope {
  let cost = 0;
  const lazy: Record<string, unknown> = {};
  const all = { ...values, variables: lazy };
  for (const { name, expression } of variables) {
    let result: { readonly value: unknown } | undefined;
    const get = (): unknown => {
      if (result !== undefined) return result.value;
      const outcome = program(expression, variables).run(all);
      cost += outcome.cost;
      if (outcome.error !== undefined) {
        const why = `composited variable "${name}" fails to evaluate: ${words(outcome.error)}`;
        throw new Error(why, { cause: outcome.error });
      }
      result = { value: outcome.value };
      return result.value;
    };
    Object.defineProperty(lazy, name, { enumerable: true, get });
  }
  return {
    values: all,
    variables,
    takeCost() {
      const units = cost;
      cost = 0;
      return units;
    },
  };
}

function namespaceOf({ context }: AdmissionAttributes): unknown {
  const { row, namespace, reader } = context;
  if (namespace === "" || (row.group === "" && row.kind === "Namespace")) return undefined;
  const object = reader.get({ group: "", plural: "namespaces" }, { name: namespace });
  if (object === undefined) return undefined;
  const { managedFields: _, ...metadata } = object.metadata;
  return { metadata, spec: object["spec"], status: object["status"] };
}
