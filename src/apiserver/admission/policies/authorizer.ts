/** `authorizer` in expressions: everybody may do everything here. @see https://kubernetes.io/docs/reference/using-api/cel/#kubernetes-authorizer-library */
import type { Environment } from "@marcbachmann/cel-js";

class DecisionValue {
  readonly allowed = true;
}

class CheckValue {
  readonly verbs = "*";
}

export class AuthorizerValue {
  readonly requestResource: CheckValue = new CheckValue();
}

export function registerAuthorizer(environment: Environment): void {
  environment.registerType("AuthorizerCheck", { ctor: CheckValue, fields: {} });
  environment.registerType("AuthorizerDecision", { ctor: DecisionValue, fields: {} });
  environment.registerType("Authorizer", { ctor: AuthorizerValue, fields: { requestResource: "AuthorizerCheck" } });
  const check = new CheckValue();
  const decision = new DecisionValue();
  environment
    .registerFunction("Authorizer.path(string): AuthorizerCheck", () => check)
    .registerFunction("Authorizer.group(string): AuthorizerCheck", () => check)
    .registerFunction(
      "Authorizer.serviceAccount(string, string): Authorizer",
      (authorizer: AuthorizerValue) => authorizer,
    );
  for (const name of ["resource", "subresource", "namespace", "name", "fieldSelector", "labelSelector"]) {
    environment.registerFunction(`AuthorizerCheck.${name}(string): AuthorizerCheck`, () => check);
  }
  environment
    .registerFunction("AuthorizerCheck.check(string): AuthorizerDecision", () => decision)
    .registerFunction("AuthorizerDecision.allowed(): bool", ({ allowed }: DecisionValue) => allowed)
    .registerFunction("AuthorizerDecision.reason(): string", () => "")
    .registerFunction("AuthorizerDecision.errored(): bool", () => false)
    .registerFunction("AuthorizerDecision.error(): string", () => "");
}
