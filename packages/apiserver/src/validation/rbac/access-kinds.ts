/** Validates roles, bindings and certificate requests. */
import { deepEquals } from "#platform/equality";
import { certificateRequest } from "../certificates/certificate-requests.ts";
import type { Field } from "../field.ts";
import { dnsSubdomain, pathSegment } from "../formats.ts";
import type { Rules, RuleTable } from "../rules.ts";
import { labelSelector } from "../selector-rules.ts";

function policyRule(rule: Field, isNamespaced: boolean): void {
  const verbs = rule.at("verbs");
  if (verbs.empty) verbs.required("verbs must contain at least one value");
  const urls = rule.at("nonResourceURLs");
  if (!urls.empty) {
    if (isNamespaced) urls.invalid("namespaced rules cannot apply to non-resource URLs");
    if (!rule.at("apiGroups").empty || !rule.at("resources").empty || !rule.at("resourceNames").empty) {
      urls.invalid("rules cannot apply to both regular resources and non-resource URLs");
    }
    return;
  }
  if (rule.at("apiGroups").empty) rule.at("apiGroups").required("resource rules must supply at least one api group");
  if (rule.at("resources").empty) rule.at("resources").required("resource rules must supply at least one resource");
}

function role(isNamespaced: boolean): (object: Field) => void {
  return (object) => {
    for (const rule of object.at("rules").items) policyRule(rule, isNamespaced);
    const aggregation = object.at("aggregationRule");
    if (!aggregation.present) return;
    const selectors = aggregation.at("clusterRoleSelectors");
    if (selectors.empty) selectors.required("at least one clusterRoleSelector required if aggregationRule is non-nil");
    for (const selector of selectors.items) {
      const before = selector.errors.length;
      labelSelector(selector);
      if (selector.errors.length > before) selector.invalid("invalid label selector.", null);
    }
  };
}

const group = "rbac.authorization.k8s.io";

function binding(kinds: readonly string[]): Rules {
  return {
    check: (object) => {
      const reference = object.at("roleRef");
      if (reference.at("apiGroup").text !== group) reference.at("apiGroup").oneOf([group]);
      reference.at("kind").oneOf(kinds, { sorted: false });
      if (reference.at("name").require()) reference.at("name").matches(pathSegment);
      const isNamespaced = kinds.length > 1;
      for (const subject of object.at("subjects").items) subjectRule(subject, isNamespaced);
    },
    update: (object, old) => {
      if (deepEquals(object.fields["roleRef"], old["roleRef"])) return;
      object.at("roleRef").invalid("cannot change roleRef");
    },
  };
}

function subjectRule(subject: Field, isNamespaced: boolean): void {
  const [kind, name, apiGroup] = [subject.at("kind"), subject.at("name"), subject.at("apiGroup")];
  name.require();
  switch (kind.text) {
    case "ServiceAccount":
      if (name.text !== "") name.matches(dnsSubdomain);
      if (apiGroup.text !== "") apiGroup.oneOf([""]);
      if (!isNamespaced) subject.at("namespace").require();
      return;
    case "User":
    case "Group":
      if (apiGroup.text !== group) apiGroup.oneOf([group]);
      return;
    default:
      kind.oneOf(["ServiceAccount", "User", "Group"], { sorted: false });
  }
}

export const accessKinds: RuleTable = {
  [`${group}/Role`]: { check: role(true) },
  [`${group}/ClusterRole`]: { check: role(false) },
  [`${group}/RoleBinding`]: binding(["Role", "ClusterRole"]),
  [`${group}/ClusterRoleBinding`]: binding(["ClusterRole"]),
  "certificates.k8s.io/CertificateSigningRequest": certificateRequest,
};
