/** The authorization modes of kube-apiserver, which are asked one after the other. */
import type { Authorizer, Decision, PolicyRule } from "../hooks.ts";

export type AuthorizationMode = "RBAC" | "AlwaysAllow" | "AlwaysDeny";

const everything: readonly PolicyRule[] = [
  { verbs: ["*"], apiGroups: ["*"], resources: ["*"] },
  { verbs: ["*"], nonResourceURLs: ["*"] },
];

/** Returns the authorizer of these modes. Roles and what they allow are known whether or not RBAC is among them. */
export function authorizerOf(modes: readonly AuthorizationMode[], rbac: Authorizer): Authorizer {
  const isOpen = modes.includes("AlwaysAllow");
  const usesRoles = modes.includes("RBAC");
  if (usesRoles && !isOpen) return rbac;
  // Nothing that a role grants is missing where everything is allowed.
  const decision: Decision = isOpen
    ? { allowed: true, reason: "" }
    : { allowed: false, reason: "Everything is forbidden." };
  return {
    authorize: () => decision,
    rulesFor: () => ({ rules: isOpen ? everything : [], missing: [] }),
    roleRules: (role, namespace) => rbac.roleRules(role, namespace),
  };
}
