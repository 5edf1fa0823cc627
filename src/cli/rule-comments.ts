/** The reasons why a rule grants permissions that are rarely used. */
import { Document, isMap, isScalar, isSeq, type YAMLMap } from "yaml";

interface GrantedRule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
}

/** Returns the reasons for rare verbs of a rule, seen in the audit log of an API server or known to be rare. */
function reasonsOf({ apiGroups, resources, verbs }: GrantedRule): readonly string[] {
  const has = (verb: string): boolean => verbs.includes(verb);
  if (resources.every((name) => name.endsWith("/finalizers"))) {
    return ["for owner references, where the admission plugin OwnerReferencesPermissionEnforcement is on"];
  }
  if (resources.every((name) => name.endsWith("/status")) && has("update") && has("patch")) {
    return ["patch: where a field is taken from another manager, or an update would lose what others hold"];
  }
  if (apiGroups.includes("events.k8s.io")) return ["patch: where an Event that repeats becomes a series"];
  const reasons: string[] = [];
  if (has("get") && has("list") && has("watch")) reasons.push("get: after a conflict, and where a cache has no answer");
  if (has("update") && has("create") && has("patch")) reasons.push("update: where the controller's own code updates");
  return reasons;
}

/** A document as YAML 1.1, which Kubernetes reads, with a comment at each rule that has rare verbs. */
export function commentedYaml(value: object): string {
  return commentedDocument(value).toString({ lineWidth: 0 });
}

export function commentedDocument(value: object): Document {
  const document = new Document(value, { version: "1.1", aliasDuplicateObjects: false });
  const rules = document.get("rules");
  const kind = document.get("kind");
  if (isSeq(rules) && (kind === "Role" || kind === "ClusterRole")) {
    for (const rule of rules.items) if (isMap(rule)) comment(rule);
  }
  return document;
}

function comment(rule: YAMLMap): void {
  const listOf = (name: string): readonly string[] => {
    const list = rule.get(name);
    return isSeq(list) ? list.items.flatMap((item) => (isScalar(item) ? String(item.value) : [])) : [];
  };
  const reasons = reasonsOf({ apiGroups: listOf("apiGroups"), resources: listOf("resources"), verbs: listOf("verbs") });
  if (reasons.length > 0) rule.commentBefore = reasons.map((reason) => ` ${reason}`).join("\n");
}
