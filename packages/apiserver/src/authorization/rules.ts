/** Evaluates the rules of roles. @see https://kubernetes.io/docs/reference/access-authn-authz/rbac/ */
import type { Attributes, PolicyRule } from "../hooks.ts";

/** Whether one rule by itself permits the request. */
export function permits(rule: PolicyRule, attributes: Attributes): boolean {
  if (!hasOrAll(rule.verbs, attributes.verb)) return false;
  if (!attributes.isResource) return rule.nonResourceURLs?.some((url) => coversPath(url, attributes.path)) === true;
  return (
    hasOrAll(rule.apiGroups, attributes.group) &&
    permitsResource(rule.resources, attributes) &&
    (!rule.resourceNames?.length || rule.resourceNames.includes(attributes.name))
  );
}

function hasOrAll(list: readonly string[] | null | undefined, item: string): boolean {
  return list?.some((one) => one === "*" || one === item) === true;
}

function permitsResource(resources: PolicyRule["resources"], { resource, subresource }: Attributes): boolean {
  if (!resources) return false;
  if (subresource === "") return resources.some((one) => one === "*" || one === resource);
  const combined = `${resource}/${subresource}`;
  const anywhere = `*/${subresource}`;
  return resources.some((one) => one === "*" || one === combined || one === anywhere);
}

/** Whether a URL of a rule, which may end in `*`, covers a path. */
export function coversPath(url: string, path: string): boolean {
  if (url === "*" || url === path) return true;
  return url.endsWith("*") && path.startsWith(url.replace(/(?<!\*)\*+$/, ""));
}
