/** The permissions for secured metrics: those of the process to check readers, and a role for readers. */
import type { ServiceAccount } from "./rbac-manifests.ts";
import type { Rule } from "./rbac-rules.ts";

/** Lets the process ask the API server who a user is and what it may do. */
export const reviewRules: readonly Rule[] = [
  { apiGroup: "authentication.k8s.io", resources: ["tokenreviews"], verbs: ["create"] },
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
