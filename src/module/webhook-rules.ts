/** What a process may do that registers its webhooks, and makes their certificate. */
import type { Rule } from "./rbac-rules.ts";

const CONFIGURATIONS = {
  apiGroup: "admissionregistration.k8s.io",
  resources: ["mutatingwebhookconfigurations", "validatingwebhookconfigurations"],
} as const;

/**
 * Of the configurations of this name, and of the definitions whose objects the process converts.
 *
 * @param name `undefined` for a process outside the cluster: it names its registration after itself, and removes those that
 * others left behind.
 * @param mayCreate `false` where the configurations come with the manifests, and are to go with them.
 */
export function registrationRules(
  name: string | undefined,
  crds: readonly string[],
  { mayCreate = true }: { readonly mayCreate?: boolean } = {},
): readonly Rule[] {
  const configurations: Rule =
    name === undefined
      ? { ...CONFIGURATIONS, verbs: ["get", "list", "watch", "create", "patch", "delete"] }
      : {
          ...CONFIGURATIONS,
          resourceNames: [name],
          verbs: ["get", "watch", ...(mayCreate ? ["create"] : []), "patch", "delete"],
        };
  if (crds.length === 0) return [configurations];
  return [
    configurations,
    {
      apiGroup: "apiextensions.k8s.io",
      resources: ["customresourcedefinitions"],
      resourceNames: crds,
      verbs: ["get", "watch", "patch"],
    },
  ];
}

/** Of the Secret that replicas share. What is to be created has no name that a rule could tell. */
export function certificateRules(secret: string): readonly Rule[] {
  const secrets = { apiGroup: "", resources: ["secrets"] };
  return [
    { ...secrets, verbs: ["create"] },
    { ...secrets, resourceNames: [secret], verbs: ["get", "watch", "update"] },
  ];
}
