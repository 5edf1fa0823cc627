/** Evaluates the expressions of policies and of match conditions. @see https://kubernetes.io/docs/reference/using-api/cel/ */
import type { Environment } from "@marcbachmann/cel-js";
import type { AdmissionAttributes, KubeObject } from "../../hooks.ts";
import { celEnvironment } from "../../cel/environment.ts";
import { matchAsGo } from "../../cel/matches.ts";
import { words } from "../../cel/rules.ts";
import { withoutLeadingDots } from "../../cel/tokens.ts";
import { toCel } from "../../cel/values.ts";
import { reviewRequest } from "../admission-review.ts";
import { authorizerValue, registerAuthorizer } from "./authorizer.ts";
import { withoutMessages } from "./message-literals.ts";

/** The value in front of the dot of `jsonpatch.escapeKey`. */
class JsonPatchNamespace {
  readonly name = "jsonpatch";
}

/** The variables that expressions see, by name. */
export type Scope = Record<string, unknown>;

type Program = (scope: Scope) => unknown;

let environment: Environment | undefined;
const programs = new Map<string, Program>();
const names = ["object", "oldObject", "request", "params", "namespaceObject", "variables", "authorizer"];

function program(expression: string): Program {
  const known = programs.get(expression);
  if (known) return known;
  if (environment === undefined) {
    environment = celEnvironment().clone();
    registerAuthorizer(environment);
    for (const name of names) environment.registerVariable(name, "dyn");
    environment
      .registerType("JsonPatchNamespace", { ctor: JsonPatchNamespace, fields: {} })
      .registerFunction("JsonPatchNamespace.escapeKey(string): string", (_: unknown, key: string) => escapeKey(key))
      .registerConstant("jsonpatch", "JsonPatchNamespace", new JsonPatchNamespace());
  }
  const parsed = environment.parse(withoutLeadingDots(withoutMessages(expression)));
  matchAsGo(parsed.ast);
  const compiledProgram: Program = (scope) => parsed(scope) as unknown;
  if (programs.size > 1000) programs.clear();
  programs.set(expression, compiledProgram);
  return compiledProgram;
}

/** Escapes a key for a JSON pointer. */
function escapeKey(key: string): string {
  return key.replaceAll("~", "~0").replaceAll("/", "~1");
}

/** Evaluates an expression. @throws Error in the server's words when it fails */
export function evaluate(expression: string, scope: Scope): unknown {
  try {
    return program(expression)(scope);
  } catch (error) {
    throw new Error(`expression '${expression}' resulted in error: ${words(error)}`, { cause: error });
  }
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
  { params, variables = [], hasNamespace = true }: ScopeOptions = {},
): Scope {
  const { context, object, oldObject } = attributes;
  const { object: _, oldObject: __, uid: ___, ...request } = reviewRequest(attributes, "");
  const scope: Scope = {
    object: toCel(object, undefined),
    oldObject: toCel(oldObject, undefined),
    request: toCel(request, undefined),
    params: toCel(params, undefined),
    namespaceObject: toCel(hasNamespace ? namespaceOf(attributes) : {}, undefined),
    authorizer: authorizerValue(context),
  };
  const lazy: Scope = {};
  for (const { name, expression } of variables) {
    let result: { readonly value: unknown } | undefined;
    const get = (): unknown => {
      result ??= { value: variable(name, expression, scope) };
      return result.value;
    };
    Object.defineProperty(lazy, name, { enumerable: true, get });
  }
  scope["variables"] = lazy;
  return scope;
}

function variable(name: string, expression: string, scope: Scope): unknown {
  try {
    return program(expression)(scope);
  } catch (error) {
    throw new Error(`composited variable "${name}" fails to evaluate: ${words(error)}`, { cause: error });
  }
}

function namespaceOf({ context }: AdmissionAttributes): unknown {
  const { row, namespace, reader } = context;
  if (namespace === "" || (row.group === "" && row.kind === "Namespace")) return undefined;
  const object = reader.get({ group: "", plural: "namespaces" }, { name: namespace });
  if (object === undefined) return undefined;
  const { managedFields: _, ...metadata } = object.metadata;
  return { metadata, spec: object["spec"], status: object["status"] };
}
