/** Evaluates the rules of roles. @see https://kubernetes.io/docs/reference/access-authn-authz/rbac/ */
import type { Attributes, PolicyRule } from "../hooks.ts";

/** Whether one rule by itself permits the request. */
export function permits(rule: PolicyRule, asked: Attributes): boolean {
  if (!hasOrAll(rule.verbs, asked.verb)) return false;
  if (!asked.isResource) return rule.nonResourceURLs?.some((url) => coversPath(url, asked.path)) === true;
  return (
    hasOrAll(rule.apiGroups, asked.group) &&
    permitsResource(rule.resources, asked) &&
    (!rule.resourceNames?.length || rule.resourceNames.includes(asked.name))
  );
}

function hasOrAll(list: readonly string[] | null | undefined, wanted: string): boolean {
  return list?.some((one) => one === "*" || one === wanted) === true;
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
