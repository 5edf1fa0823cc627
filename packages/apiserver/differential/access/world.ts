/** Generated worlds of roles, bindings and users, which are the same in each run. */
import type { Session } from "../session.ts";
import { Dice } from "../sampling.ts";

export const rbac = "/apis/rbac.authorization.k8s.io/v1";

export interface Rule {
  readonly verbs: readonly string[];
  readonly apiGroups?: readonly string[];
  readonly resources?: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly nonResourceURLs?: readonly string[];
}

/** A user with groups, as impersonation names them. */
export interface Person {
  readonly name: string;
  readonly groups: readonly string[];
}

export const verbs: readonly string[] = [
  "get",
  "list",
  "watch",
  "create",
  "update",
  "patch",
  "delete",
  "deletecollection",
  "*",
];
const groups = ["", "apps", "batch", "example.test", "*"];
const resources = [
  "configmaps",
  "secrets",
  "pods",
  "pods/log",
  "pods/exec",
  "pods/status",
  "*/status",
  "*/scale",
  "deployments",
  "deployments/scale",
  "jobs",
  "namespaces",
  "nodes",
  "tigers",
  "*",
];
const names = ["one", "two", "three"];
const urls = ["/healthz", "/healthz/*", "/metrics", "/api", "/api/*", "/apis/*", "/openapi/*", "/logs*", "*"];

/** Makes a rule; rules that permit everything are rare, because otherwise nothing would be refused. */
export function ruleOf(dice: Dice, { cluster }: { readonly cluster: boolean }): Rule {
  const rare = (list: readonly string[]): string[] => {
    const items = dice.some(list, 3);
    return items.includes("*") && dice.chance(0.7) ? [list[0]!] : items;
  };
  if (cluster && dice.chance(0.2)) return { verbs: rare(["get", "head", "post", "*"]), nonResourceURLs: rare(urls) };
  return {
    verbs: rare(verbs),
    apiGroups: rare(groups),
    resources: rare(resources),
    ...(dice.chance(0.25) && { resourceNames: dice.some(names, 2) }),
  };
}

export interface World {
  readonly namespace: string;
  readonly other: string;
  readonly people: readonly Person[];
}

/** Creates a session's own world, and waits until the server has seen it. */
export async function makeWorld(session: Session, seed: number): Promise<World> {
  const dice = new Dice(seed);
  const { slug } = session;
  const [namespace, other] = [slug, `${slug}-b`];
  for (const name of [namespace, other]) {
    await session.quietly("POST", "/api/v1/namespaces", { apiVersion: "v1", kind: "Namespace", metadata: { name } });
  }
  const account = (name: string): Person => ({
    name: `system:serviceaccount:${namespace}:${name}`,
    groups: ["system:serviceaccounts", `system:serviceaccounts:${namespace}`, "system:authenticated"],
  });
  const people: Person[] = [
    { name: `${slug}-ann`, groups: [`${slug}-dev`, "system:authenticated"] },
    { name: `${slug}-bob`, groups: [`${slug}-ops`, "system:authenticated"] },
    { name: `${slug}-eve`, groups: ["system:authenticated"] },
    account("robot"),
    account("helper"),
  ];
  const subjects = [
    ...[`${slug}-ann`, `${slug}-bob`].map((name) => ({ kind: "User", name, apiGroup })),
    ...[`${slug}-dev`, `${slug}-ops`].map((name) => ({ kind: "Group", name, apiGroup })),
    { kind: "ServiceAccount", name: "robot", namespace },
    { kind: "ServiceAccount", name: "helper", namespace },
  ];
  const rules = (cluster: boolean): Rule[] =>
    Array.from({ length: 1 + Math.floor(dice.next() * 3) }, () => ruleOf(dice, { cluster }));
  for (const name of [`${slug}-x`, `${slug}-y`, `${slug}-z`]) {
    await session.quietly("POST", `${rbac}/clusterroles`, { ...of("ClusterRole", { name }), rules: rules(true) });
  }
  for (const [index, place] of [namespace, namespace, other].entries()) {
    const metadata = { name: `role-${index}`, namespace: place };
    await session.quietly("POST", `${rbac}/namespaces/${place}/roles`, {
      ...of("Role", metadata),
      rules: rules(false),
    });
  }
  for (const name of [`${slug}-x`, `${slug}-y`]) {
    await session.quietly("POST", `${rbac}/clusterrolebindings`, {
      ...of("ClusterRoleBinding", { name }),
      roleRef: { apiGroup, kind: "ClusterRole", name },
      subjects: dice.some(subjects, 2),
    });
  }
  const local: readonly [string, string, string][] = [
    [namespace, "Role", "role-0"],
    [namespace, "Role", "role-1"],
    [namespace, "ClusterRole", `${slug}-z`],
    [other, "Role", "role-2"],
    [other, "ClusterRole", dice.one([`${slug}-z`, "view", "system:discovery"])],
    // One role in each is missing, which the server reports.
    [namespace, dice.one(["Role", "ClusterRole"]), `${slug}-absent`],
  ];
  for (const [index, [place, kind, name]] of local.entries()) {
    await session.quietly("POST", `${rbac}/namespaces/${place}/rolebindings`, {
      ...of("RoleBinding", { name: `binding-${index}`, namespace: place }),
      roleRef: { apiGroup, kind, name },
      subjects: dice.some(subjects, 2).map((subject) => withoutNamespace(subject, dice.chance(0.3))),
    });
  }
  await session.noticed(600);
  return { namespace, other, people };
}

export const apiGroup = "rbac.authorization.k8s.io";

export function of(kind: string, metadata: object): object {
  return { apiVersion: `${apiGroup}/v1`, kind, metadata };
}

/** A service account in the binding's own namespace needs no namespace. */
function withoutNamespace(subject: object, drops: boolean): object {
  const { namespace: _, ...rest } = subject as { namespace?: string };
  return drops ? rest : subject;
}

/**
 * Returns the headers with which the administrator impersonates a user; several groups would be one header here, and
 * therefore one group.
 */
export function as({ name, groups }: Person): Record<string, string> {
  const own = groups.filter((group) => !group.startsWith("system:"));
  if (own.length > 1) throw new Error(`${name} is in more than one group`);
  return { "impersonate-user": name, ...(own[0] !== undefined && { "impersonate-group": own[0] }) };
}
