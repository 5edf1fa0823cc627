/** Makes roles and bindings for a service account. */
import type { Permissions } from "../client/permissions.ts";
import { type Rule, rulesOf } from "./rbac-rules.ts";

export interface ServiceAccount {
  readonly namespace: string;
  readonly name: string;
}

export interface RbacOptions {
  readonly account: ServiceAccount;
  /** The namespaces, each of which gets a Role; empty for one ClusterRole. */
  readonly namespaces: readonly string[];
  /** Rules for the whole cluster, in addition to those of the permissions. @default none */
  readonly more?: readonly Rule[] | undefined;
  /** Rules for single namespaces, in addition to those of the permissions. @default none */
  readonly local?: readonly { readonly namespace: string; readonly rules: readonly Rule[] }[] | undefined;
  /** The Leases with which its replicas elect a leader. @default none */
  readonly leases?: Leases | undefined;
}

export interface Leases {
  readonly namespace: string;
  readonly names: readonly string[];
  /** Whether the Leases are found by a label, which no rule can name. @default false */
  readonly areListed?: boolean | undefined;
}

const RBAC = "rbac.authorization.k8s.io";

/** The rules for Leases by name, for creating them, which no rule can do by name, and for Events. */
function leaseRules({ names, areListed }: Leases): readonly Rule[] {
  if (names.length === 0) return [];
  const leases = { apiGroup: "coordination.k8s.io", resources: ["leases"] };
  if (areListed === true) {
    return [
      { ...leases, verbs: ["list", "watch", "create"] },
      { ...leases, resourceNames: names, verbs: ["get", "update"] },
    ];
  }
  return [
    { ...leases, verbs: ["create"] },
    { ...leases, resourceNames: names, verbs: ["get", "watch", "update"] },
    { apiGroup: "events.k8s.io", resources: ["events"], verbs: ["create", "patch"] },
  ];
}

/**
 * Returns the manifests for the permissions and for the Leases of leader election.
 *
 * With namespaces, a ClusterRole remains only for kinds without namespaces. Kinds that a controller watches in
 * namespaces of its own are granted only there; kinds that it watches in namespaces selected by labels are granted
 * everywhere.
 *
 * @see https://kubernetes.io/docs/reference/access-authn-authz/rbac/
 */
export function rbacManifests(
  permissions: readonly Permissions[],
  { account, namespaces, more = [], local = [], leases = { namespace: account.namespace, names: [] } }: RbacOptions,
): readonly object[] {
  const everywhere = namespaces.length === 0;
  const shared = rulesOf(permissions, { scope: "Namespaced" });
  const own = permissions.flatMap((one) =>
    [...one].flatMap(({ namespaces: list }) => (list === "all" ? [] : (list ?? []))),
  );
  const others = local.map(({ namespace }) => namespace);
  const roles = [...new Set([...namespaces, ...own, leases.namespace, ...others])].map((namespace) => {
    const rules = [
      ...(namespaces.includes(namespace) ? shared : []),
      ...rulesOf(permissions, { namespace }),
      ...(namespace === leases.namespace ? leaseRules(leases) : []),
      ...local.flatMap((one) => (one.namespace === namespace ? one.rules : [])),
    ];
    return grant(rules, { account, namespace });
  });
  const inCluster = [...rulesOf(permissions, everywhere ? {} : { scope: "Cluster" }), ...more];
  return [...grant(inCluster, { account }), ...roles.flat()];
}

/** The namespaces that every cluster has. */
const OF_EVERY_CLUSTER: ReadonlySet<string> = new Set(["default", "kube-system", "kube-public", "kube-node-lease"]);

/**
 * Returns the namespace of the service account, which may not exist yet. A namespace that every cluster has is left
 * out, because manifests that contain it would change or delete a namespace on which others depend.
 */
export function namespaceManifest(namespace: string): readonly object[] {
  if (OF_EVERY_CLUSTER.has(namespace)) return [];
  return [{ apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } }];
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
      rules: rules.map(({ apiGroup, resources, resourceNames, verbs }) => ({
        apiGroups: [apiGroup],
        resources,
        ...(resourceNames !== undefined && { resourceNames }),
        verbs,
      })),
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
