/** What secured metrics need: the right to ask about those who read them, and a role for these. */
import type { ServiceAccount } from "./rbac-manifests.ts";
import type { Rule } from "./rbac-rules.ts";

/** Lets the process ask the API server who somebody is, and what he may do. */
export const reviewRules: readonly Rule[] = [
  { apiGroup: "authentication.k8s.io", resources: ["tokenreviews"], verbs: ["create"] },
  { apiGroup: "authorization.k8s.io", resources: ["subjectaccessreviews"], verbs: ["create"] },
];

/** As kubebuilder's: a role to bind to whoever scrapes, such as Prometheus' account. */
export function metricsReader({ name }: ServiceAccount): object {
  return {
    apiVersion: "rbac.authorization.k8s.io/v1",
    kind: "ClusterRole",
    metadata: { name: `${name}-metrics-reader` },
    rules: [{ nonResourceURLs: ["/metrics"], verbs: ["get"] }],
  };
}
