/** Rules of roles, bindings and certificate requests. */
import type { Fields, KubeObject, WriteContext } from "../../hooks.ts";
import type { Field } from "../field.ts";
import { each, inner } from "../fill.ts";
import { dnsSubdomain, pathSegment } from "../formats.ts";
import { signerName } from "../certificates/signer-name.ts";
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
      const { apiGroup, kind, name } = object.at("roleRef").fields;
      if (Bun.deepEquals(object.fields["roleRef"], old["roleRef"])) return;
      object
        .at("roleRef")
        .addStruct("Invalid", "cannot change roleRef", { APIGroup: apiGroup, Kind: kind, Name: name });
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

const usages = [
  "any",
  "cert sign",
  "client auth",
  "code signing",
  "content commitment",
  "crl sign",
  "data encipherment",
  "decipher only",
  "digital signature",
  "email protection",
  "encipher only",
  "ipsec end system",
  "ipsec tunnel",
  "ipsec user",
  "key agreement",
  "key encipherment",
  "microsoft sgc",
  "netscape sgc",
  "ocsp signing",
  "s/mime",
  "server auth",
  "signing",
  "timestamping",
];

function requestedBy(object: KubeObject, { user }: WriteContext): void {
  const spec = inner(object, "spec");
  spec["username"] = user.username;
  spec["groups"] = [...user.groups];
  if (user.uid) spec["uid"] = user.uid;
  else delete spec["uid"];
  if (user.extra && Object.keys(user.extra).length > 0) spec["extra"] = structuredClone(user.extra) as Fields;
  else delete spec["extra"];
  delete object["status"];
  object["status"] = {};
}

/** When a condition came and when it was written last, where the writer does not say. */
function timed(next: KubeObject, old: KubeObject, now: string): void {
  const before = each(inner(old, "status"), "conditions");
  for (const condition of each(inner(next, "status"), "conditions")) {
    condition["lastUpdateTime"] ??= now;
    const same = before.find(({ type, status }) => type === condition["type"] && status === condition["status"]);
    condition["lastTransitionTime"] ??= same?.["lastTransitionTime"] ?? now;
  }
}

const certificateRequest: Rules = {
  prepare: requestedBy,
  prepareUpdate: (next, old, { subresource, now }) => {
    next["spec"] = old["spec"];
    if (subresource !== "") timed(next, old, now);
  },
  check: (object) => {
    const spec = object.at("spec");
    const request = spec.at("request");
    const pem = Buffer.from(request.text, "base64").toString();
    if (!/-----BEGIN CERTIFICATE REQUEST-----/.test(pem)) {
      request.invalid("PEM block type must be CERTIFICATE REQUEST", request.value ?? null);
    }
    const list = spec.at("usages");
    if (list.empty) list.required();
    const seen = new Set<string>();
    for (const usage of list.items) {
      if (!usages.includes(usage.text)) usage.oneOf(usages);
      if (seen.has(usage.text)) usage.duplicate();
      seen.add(usage.text);
    }
    signerName(spec.at("signerName"));
    const seconds = spec.at("expirationSeconds");
    if (seconds.present && seconds.number < 600)
      seconds.invalid("may not specify a duration less than 600 seconds (10 minutes)");
  },
  status: (object) => {
    const conditions = object.at("status").at("conditions");
    const seen = new Set<string>();
    for (const condition of conditions.items) {
      const [type, status] = [condition.at("type"), condition.at("status")];
      type.require();
      const isDecision = ["Approved", "Denied", "Failed"].includes(type.text);
      if (status.require()) status.oneOf(isDecision ? ["True"] : ["False", "True", "Unknown"]);
      const other = type.text === "Approved" ? "Denied" : type.text === "Denied" ? "Approved" : undefined;
      if (other !== undefined && seen.has(other))
        conditions.with(type.text).invalid("Approved and Denied conditions are mutually exclusive");
      if (seen.has(type.text)) type.duplicate(type.text);
      seen.add(type.text);
    }
  },
  selectable: { "spec.signerName": (object) => String(inner(object, "spec")["signerName"] ?? "") },
};

export const accessKinds: RuleTable = {
  [`${group}/Role`]: { check: role(true) },
  [`${group}/ClusterRole`]: { check: role(false) },
  [`${group}/RoleBinding`]: binding(["Role", "ClusterRole"]),
  [`${group}/ClusterRoleBinding`]: binding(["ClusterRole"]),
  "certificates.k8s.io/CertificateSigningRequest": certificateRequest,
};
