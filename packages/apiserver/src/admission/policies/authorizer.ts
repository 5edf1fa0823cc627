/**
 * The variable `authorizer` of expressions. @see
 * https://kubernetes.io/docs/reference/using-api/cel/#kubernetes-authorizer-library
 */
import type { Environment } from "@marcbachmann/cel-js";
import type { Attributes, Authorizer, UserInfo, WriteContext } from "../../hooks.ts";
import { dnsLabel, dnsSubdomain } from "../../validation/formats.ts";

class DecisionValue {
  readonly allowed: boolean;
  readonly reason: string;

  constructor(allowed: boolean, reason: string) {
    this.allowed = allowed;
    this.reason = reason;
  }
}

/** A check that lacks its verb. */
class CheckValue {
  readonly authorizer: Authorizer;
  readonly attributes: Omit<Attributes, "verb">;

  constructor(authorizer: Authorizer, attributes: Omit<Attributes, "verb">) {
    this.authorizer = authorizer;
    this.attributes = attributes;
  }

  with(more: Partial<Attributes>): CheckValue {
    return new CheckValue(this.authorizer, { ...this.attributes, ...more });
  }

  check(verb: string): DecisionValue {
    const { allowed, reason } = this.authorizer.authorize({ ...this.attributes, verb });
    return new DecisionValue(allowed, reason);
  }
}

class AuthorizerValue {
  readonly authorizer: Authorizer;
  readonly user: UserInfo;
  /** The check for the request's own resource; `undefined` for a check of another user. */
  readonly requestResource: CheckValue | undefined;

  constructor(authorizer: Authorizer, user: UserInfo, requestResource: CheckValue | undefined) {
    this.authorizer = authorizer;
    this.user = user;
    this.requestResource = requestResource;
  }

  path(path: string): CheckValue {
    if (path.trim() === "") throw new Error("path must not be empty");
    return new CheckValue(this.authorizer, { ...blank, user: this.user, isResource: false, path });
  }

  group(group: string): CheckValue {
    return new CheckValue(this.authorizer, { ...blank, user: this.user, group });
  }

  /** Returns the same checks for a service account. */
  serviceAccount(namespace: string, name: string): AuthorizerValue {
    if (dnsSubdomain(name).length > 0) throw new Error("Invalid service account name");
    if (dnsLabel(namespace).length > 0) throw new Error("Invalid service account namespace");
    const username = `system:serviceaccount:${namespace}:${name}`;
    const groups = ["system:serviceaccounts", `system:serviceaccounts:${namespace}`];
    return new AuthorizerValue(this.authorizer, { username, groups }, undefined);
  }
}

/** Makes the value of `authorizer` for the expressions of a request. */
export function authorizerValue({ authorizer, user, row, subresource, namespace, name }: WriteContext): object {
  const attributes = { ...blank, user, group: row.group, resource: row.plural, subresource, namespace, name };
  return new AuthorizerValue(authorizer, user, new CheckValue(authorizer, attributes));
}

const blank: Omit<Attributes, "user" | "verb"> = {
  isResource: true,
  path: "",
  group: "",
  resource: "",
  subresource: "",
  namespace: "",
  name: "",
};

export function registerAuthorizer(environment: Environment): void {
  environment.registerType("AuthorizerCheck", { ctor: CheckValue, fields: {} });
  environment.registerType("AuthorizerDecision", { ctor: DecisionValue, fields: {} });
  environment.registerType("Authorizer", { ctor: AuthorizerValue, fields: { requestResource: "AuthorizerCheck" } });
  environment
    .registerFunction("Authorizer.path(string): AuthorizerCheck", (one: AuthorizerValue, path: string) =>
      one.path(path),
    )
    .registerFunction("Authorizer.group(string): AuthorizerCheck", (one: AuthorizerValue, name: string) =>
      one.group(name),
    )
    .registerFunction(
      "Authorizer.serviceAccount(string, string): Authorizer",
      (one: AuthorizerValue, namespace: string, name: string) => one.serviceAccount(namespace, name),
    );
  for (const field of ["resource", "subresource", "namespace", "name"] as const) {
    environment.registerFunction(
      `AuthorizerCheck.${field}(string): AuthorizerCheck`,
      (one: CheckValue, value: string) => one.with({ [field]: value }),
    );
  }
  // RBAC ignores selectors.
  for (const name of ["fieldSelector", "labelSelector"]) {
    environment.registerFunction(`AuthorizerCheck.${name}(string): AuthorizerCheck`, (one: CheckValue) => one);
  }
  environment
    .registerFunction("AuthorizerCheck.check(string): AuthorizerDecision", (one: CheckValue, verb: string) =>
      one.check(verb),
    )
    .registerFunction("AuthorizerDecision.allowed(): bool", ({ allowed }: DecisionValue) => allowed)
    .registerFunction("AuthorizerDecision.reason(): string", ({ reason }: DecisionValue) => reason)
    .registerFunction("AuthorizerDecision.errored(): bool", () => false)
    .registerFunction("AuthorizerDecision.error(): string", () => "");
}
