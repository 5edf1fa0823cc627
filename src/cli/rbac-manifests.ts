/** Roles and bindings for a service account. */
import type { Permissions } from "../client/permissions.ts";
import { type Rule, rulesOf } from "./rbac-rules.ts";

export interface ServiceAccount {
  readonly namespace: string;
  readonly name: string;
}

export interface RbacOptions {
  readonly account: ServiceAccount;
  /** A Role in each of these; empty for one ClusterRole. */
  readonly namespaces: readonly string[];
}

const RBAC = "rbac.authorization.k8s.io";

/**
 * What the permissions need.
 *
 * With namespaces, a ClusterRole is left only for kinds that have no namespace.
 *
 * @see https://kubernetes.io/docs/reference/access-authn-authz/rbac/
 */
export function rbacManifests(
  permissions: readonly Permissions[],
  { account, namespaces }: RbacOptions,
): readonly object[] {
  if (namespaces.length === 0) return grant(rulesOf(permissions), { account });
  const namespaced = rulesOf(permissions, { scope: "Namespaced" });
  return [
    ...grant(rulesOf(permissions, { scope: "Cluster" }), { account }),
    ...[...new Set(namespaces)].flatMap((namespace) => grant(namespaced, { account, namespace })),
  ];
}

function grant(
  rules: readonly Rule[],
  { account, namespace }: { account: ServiceAccount; namespace?: string },
): readonly object[] {
  if (rules.length === 0) return [];
  const prefix = namespace === undefined ? "Cluster" : "";
  const metadata = { name: account.name, ...(namespace !== undefined && { namespace }) };
  return [
    {
      apiVersion: `${RBAC}/v1`,
      kind: `${prefix}Role`,
      metadata,
      rules: rules.map(({ apiGroup, resources, verbs }) => ({ apiGroups: [apiGroup], resources, verbs })),
    },
    {
      apiVersion: `${RBAC}/v1`,
      kind: `${prefix}RoleBinding`,
      metadata,
      roleRef: { apiGroup: RBAC, kind: `${prefix}Role`, name: account.name },
      subjects: [{ kind: "ServiceAccount", name: account.name, namespace: account.namespace }],
    },
  ];
}
