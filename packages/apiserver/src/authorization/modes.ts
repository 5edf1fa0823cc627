/** The authorization modes of kube-apiserver, which are asked one after the other. */
import type { Authorizer, Decision, PolicyRule } from "../hooks.ts";

export type AuthorizationMode = "RBAC" | "AlwaysAllow" | "AlwaysDeny";

const everything: readonly PolicyRule[] = [
  { verbs: ["*"], apiGroups: ["*"], resources: ["*"] },
  { verbs: ["*"], nonResourceURLs: ["*"] },
];

const allowed: Decision = { allowed: true, reason: "" };
const denied: Decision = { allowed: false, reason: "Everything is forbidden." };

/** Returns the authorizer of these modes. Roles and what they allow are known whether or not RBAC is among them. */
export function authorizerOf(modes: readonly AuthorizationMode[], rbac: Authorizer): Authorizer {
  if (modes.every((mode) => mode === "RBAC")) return rbac;
  const isOpen = modes.includes("AlwaysAllow");
  return {
    authorize(attributes) {
      if (isOpen) return allowed;
      const decisions = modes.map((mode) => (mode === "RBAC" ? rbac.authorize(attributes) : denied));
      const reasons = decisions.map(({ reason }) => reason).filter((reason) => reason !== "");
      return decisions.find((decision) => decision.allowed) ?? { allowed: false, reason: reasons.join("\n") };
    },
    rulesFor(user, namespace) {
      if (isOpen) return { rules: everything, missing: [] };
      return modes.includes("RBAC") ? rbac.rulesFor(user, namespace) : { rules: [], missing: [] };
    },
    roleRules: (role, namespace) => rbac.roleRules(role, namespace),
  };
}
