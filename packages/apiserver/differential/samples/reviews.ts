import type { Samples } from "./sample.ts";

const resourceAttributes = { namespace: "default", verb: "get", resource: "pods" };

/** Kinds that can only be created, because they are requests. */
export const reviews: Samples = {
  "authentication.k8s.io/SelfSubjectReview": { minimal: {} },
  "authentication.k8s.io/TokenReview": { minimal: { spec: { token: "nope" } }, full: { spec: { token: "" } } },
  "authorization.k8s.io/LocalSubjectAccessReview": {
    minimal: { spec: { user: "system:admin", groups: ["system:masters"], resourceAttributes } },
    full: { spec: { user: "u", resourceAttributes: { verb: "get" } } },
  },
  "authorization.k8s.io/SelfSubjectAccessReview": {
    minimal: { spec: { resourceAttributes } },
    full: { spec: { nonResourceAttributes: { path: "/x", verb: "get" } } },
  },
  "authorization.k8s.io/SelfSubjectRulesReview": { minimal: { spec: { namespace: "default" } } },
  "authorization.k8s.io/SubjectAccessReview": {
    minimal: { spec: { user: "system:admin", groups: ["system:masters"], resourceAttributes } },
    full: { spec: { user: "u" } },
  },
};
