/** The permissions that a process needs besides those of its modules: for its webhooks, secured metrics and debug listener. */
import type { ServiceAccount } from "./rbac-manifests.ts";
import type { Rule } from "./rbac-rules.ts";

const CONFIGURATIONS = {
  apiGroup: "admissionregistration.k8s.io",
  resources: ["mutatingwebhookconfigurations", "validatingwebhookconfigurations"],
} as const;

/**
 * Returns the rules for the configurations with this name, and for the definitions whose objects the process converts.
 *
 * @param name the configurations' name; `undefined` for a process outside the cluster, which names its registration
 * after itself, and removes those that others left behind.
 * @param mayCreate `false` when the configurations come with the manifests, and are removed with them.
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

/** Returns the rules for the Secret that replicas share. A rule cannot name an object that does not exist yet. */
export function certificateRules(secret: string): readonly Rule[] {
  const secrets = { apiGroup: "", resources: ["secrets"] };
  return [
    { ...secrets, verbs: ["create"] },
    { ...secrets, resourceNames: [secret], verbs: ["get", "watch", "update"] },
  ];
}

/** Lets the process ask the API server whose a token is. */
export const tokenRules: readonly Rule[] = [
  { apiGroup: "authentication.k8s.io", resources: ["tokenreviews"], verbs: ["create"] },
];

/** Lets the process ask the API server who a user is and what it may do. */
export const reviewRules: readonly Rule[] = [
  ...tokenRules,
  { apiGroup: "authorization.k8s.io", resources: ["subjectaccessreviews"], verbs: ["create"] },
];

/** Makes a role for scrapers such as Prometheus' account, as kubebuilder does. */
export function metricsReader({ name }: ServiceAccount): object {
  return {
    apiVersion: "rbac.authorization.k8s.io/v1",
    kind: "ClusterRole",
    metadata: { name: `${name}-metrics-reader` },
    rules: [{ nonResourceURLs: ["/metrics"], verbs: ["get"] }],
  };
}
