/** Decides whether a FlowSchema is about a request. @see https://kubernetes.io/docs/concepts/cluster-administration/flow-control/#flowschema */
import type { Attributes, Fields, KubeObject, UserInfo } from "../hooks.ts";
import { each, inner } from "../validation/fill.ts";

/** The rules of a FlowSchema that name a user, or one of its groups. */
export type UserRules = readonly Fields[];

/** Returns the rules that are about a user. */
export function rulesFor(schema: KubeObject, user: UserInfo): UserRules {
  return each(inner(schema, "spec"), "rules").filter((rule) =>
    each(rule, "subjects").some((subject) => isSubject(subject, user)),
  );
}

function isSubject(subject: Fields, { username, groups }: UserInfo): boolean {
  const { name, namespace } = inner(subject, ofKind[String(subject["kind"])] ?? "") as Record<string, string>;
  switch (subject["kind"]) {
    case "User":
      return name === "*" || name === username;
    case "Group":
      return name === "*" || groups.includes(name ?? "");
    case "ServiceAccount":
      return name === "*"
        ? username.startsWith(`system:serviceaccount:${namespace}:`)
        : username === `system:serviceaccount:${namespace}:${name}`;
    default:
      return false;
  }
}

const ofKind: Readonly<Record<string, string>> = { User: "user", Group: "group", ServiceAccount: "serviceAccount" };

/** Whether some rule is about every request, so that the request need not be looked at. */
export function isForEverything(rules: UserRules): boolean {
  return rules.some(
    (rule) =>
      each(rule, "nonResourceRules").some((one) => isAny(one, "verbs") && isAny(one, "nonResourceURLs")) &&
      each(rule, "resourceRules").some(
        (one) =>
          ["verbs", "apiGroups", "resources", "namespaces"].every((name) => isAny(one, name)) &&
          one["clusterScope"] === true,
      ),
  );
}

/** Whether some rule is about the request. */
export function isAbout(rules: UserRules, request: Attributes): boolean {
  return request.isResource
    ? rules.some((rule) => each(rule, "resourceRules").some((one) => isAboutResource(one, request)))
    : rules.some((rule) => each(rule, "nonResourceRules").some((one) => isAboutPath(one, request)));
}

function isAboutResource(rule: Fields, { verb, group, resource, subresource, namespace }: Attributes): boolean {
  const name = subresource === "" ? resource : `${resource}/${subresource}`;
  if (!includes(rule, "verbs", verb) || !includes(rule, "resources", name) || !includes(rule, "apiGroups", group))
    return false;
  return namespace === "" ? rule["clusterScope"] === true : includes(rule, "namespaces", namespace);
}

function isAboutPath(rule: Fields, { verb, path }: Attributes): boolean {
  if (!includes(rule, "verbs", verb)) return false;
  return textsOf(rule, "nonResourceURLs").some((url) => {
    if (url === "*" || url === path) return true;
    const prefix = url.replace(/\*$/, "");
    return path.startsWith(prefix.endsWith("/") ? prefix : `${prefix}/`);
  });
}

function includes(rule: Fields, list: string, text: string): boolean {
  return isAny(rule, list) || textsOf(rule, list).includes(text);
}

function isAny(rule: Fields, list: string): boolean {
  const texts = textsOf(rule, list);
  return texts.length === 1 && texts[0] === "*";
}

function textsOf(rule: Fields, list: string): readonly string[] {
  return (rule[list] ?? []) as string[];
}
