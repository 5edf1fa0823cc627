/** The permissions of a process that registers its webhooks and issues their certificate. */
import type { Rule } from "./rbac-rules.ts";

const CONFIGURATIONS = {
  apiGroup: "admissionregistration.k8s.io",
  resources: ["mutatingwebhookconfigurations", "validatingwebhookconfigurations"],
} as const;

/**
 * Returns the rules for the configurations with this name, and for the definitions whose objects the process
 * converts.
 *
 * @param name `undefined` for a process outside the cluster: it names its registration after itself, and removes
 * those that others left behind.
 * @param mayCreate `false` where the configurations come with the manifests, and are removed with them.
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

/** Returns the rules for the Secret that replicas share. A rule cannot name what is to be created. */
export function certificateRules(secret: string): readonly Rule[] {
  const secrets = { apiGroup: "", resources: ["secrets"] };
  return [
    { ...secrets, verbs: ["create"] },
    { ...secrets, resourceNames: [secret], verbs: ["get", "watch", "update"] },
  ];
}
