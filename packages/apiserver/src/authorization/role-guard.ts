/**
 * Guards writes of roles and bindings: their author must have the granted permissions, or the permission to grant
 * them anyway.
 */
import { deepEquals } from "#platform/equality";
import { goQuoted } from "../field-error.ts";
import type { Attributes, Authorizer, KubeObject, PolicyRule, RoleReference, UserInfo } from "../hooks.ts";
import { badRequest, forbidden, notFound, StatusError } from "../status.ts";
import { withoutEmpty } from "../validation/field.ts";
import { superusers } from "./authorizer.ts";
import { escalation } from "./escalation.ts";

export const rbacGroup = "rbac.authorization.k8s.io";

const everything: readonly PolicyRule[] = [
  { verbs: ["*"], apiGroups: ["*"], resources: ["*"] },
  { verbs: ["*"], nonResourceURLs: ["*"] },
];

export interface RoleWrite {
  readonly authorizer: Authorizer;
  readonly user: UserInfo;
  /** `roles`, `clusterroles`, `rolebindings` or `clusterrolebindings`. */
  readonly plural: string;
  /** The namespace in the path; `""` for none. */
  readonly namespace: string;
  /** The name in the path; `""` for none. */
  readonly name: string;
  readonly next: KubeObject;
  /** The existing object; `undefined` for a creation. */
  readonly old: KubeObject | undefined;
}

/**
 * Checks a write to a role or a binding, after mutating admission and before validation.
 *
 * @throws StatusError 403 when it grants more than its author has.
 */
export function guardRole(write: RoleWrite): void {
  const { user, plural, next, old } = write;
  if (user.groups.includes(superusers)) return;
  const isBinding = plural.endsWith("bindings");
  if (!isBinding && mayEscalate(write)) return;
  if (old !== undefined && isSameForUsers(next, old)) return;
  if (isBinding) guardBinding(write);
  else guardRules(write);
}

function guardRules(write: RoleWrite): void {
  const { next, old } = write;
  confirm(write, (next["rules"] ?? []) as readonly PolicyRule[]);
  if (!aggregates(next) && (old === undefined || !aggregates(old))) return;
  // An aggregating role may come to permit anything, because other roles add to it.
  const why = "must have cluster-admin privileges to use the aggregationRule";
  confirm(write, everything, why);
}

function guardBinding(write: RoleWrite): void {
  const { authorizer, namespace, next } = write;
  const { apiGroup = "", ...role } = next["roleRef"] as RoleReference & { readonly apiGroup?: string };
  if (mayBind(write, { ...role, apiGroup })) return;
  const rules = authorizer.roleRules(role, namespace);
  if (rules === undefined) throw missing(role, write);
  confirm(write, rules);
}

function confirm(
  { authorizer, user, plural, namespace, next }: RoleWrite,
  rules: readonly PolicyRule[],
  told?: string,
): void {
  const why = escalation({ user, plural, own: authorizer.rulesFor(user, namespace), granted: rules });
  if (why === undefined) return;
  throw forbidden({ group: rbacGroup, plural }, next.metadata.name ?? "", { why: told ?? why });
}

function mayEscalate({ authorizer, user, plural, namespace, name }: RoleWrite): boolean {
  return authorizer.authorize(question(user, { verb: "escalate", group: rbacGroup, resource: plural, namespace, name }))
    .allowed;
}

function mayBind(
  { authorizer, user, namespace }: RoleWrite,
  { kind, name, apiGroup }: RoleReference & { readonly apiGroup: string },
): boolean {
  if (kind !== "Role" && kind !== "ClusterRole") return false;
  const resource = kind === "Role" ? "roles" : "clusterroles";
  return authorizer.authorize(question(user, { verb: "bind", group: apiGroup, resource, namespace, name })).allowed;
}

function question(
  user: UserInfo,
  about: Pick<Attributes, "verb" | "group" | "resource" | "namespace" | "name">,
): Attributes {
  return { user, isResource: true, path: "", subresource: "", ...about };
}

/** Reports the missing role as the real server does, with the resource of the binding. */
function missing({ kind, name }: RoleReference, { namespace, plural }: RoleWrite): StatusError {
  if (kind === "Role" && namespace === "") return badRequest("namespace parameter required");
  if (kind === "Role" || kind === "ClusterRole") return notFound({ group: rbacGroup, plural }, name);
  return new StatusError(500, "", { message: `unsupported role reference kind: ${goQuoted(kind)}` });
}

function aggregates(role: KubeObject): boolean {
  const rule = role["aggregationRule"] as { readonly clusterRoleSelectors?: readonly object[] } | undefined;
  return (rule?.clusterRoleSelectors ?? []).length > 0;
}

/** Whether the objects differ only in fields that the garbage collector writes; it must be able to. */
function isSameForUsers(next: KubeObject, old: KubeObject): boolean {
  return deepEquals(withoutEmpty(plain(next)), withoutEmpty(plain(old)));
}

function plain({ metadata, ...rest }: KubeObject): object {
  const { ownerReferences: _, finalizers: __, managedFields: ___, ...others } = metadata;
  return { ...rest, metadata: others };
}
