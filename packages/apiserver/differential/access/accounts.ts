/** Service accounts that send requests with tokens. */
import type { Requests, Session } from "../session.ts";
import { apiGroup, of, rbac, type Rule } from "./world.ts";

/** Creates an account with these rules in the whole cluster. @returns its token */
export async function makeAccount(session: Session, name: string, rules: readonly Rule[]): Promise<string> {
  const { slug } = session;
  const role = `${slug}-${name}`;
  await session.quietly("POST", `/api/v1/namespaces/${slug}/serviceaccounts`, {
    apiVersion: "v1",
    kind: "ServiceAccount",
    metadata: { name, namespace: slug },
  });
  await session.quietly("POST", `${rbac}/clusterroles`, { ...of("ClusterRole", { name: role }), rules });
  await session.quietly("POST", `${rbac}/clusterrolebindings`, {
    ...of("ClusterRoleBinding", { name: role }),
    roleRef: { apiGroup, kind: "ClusterRole", name: role },
    subjects: [{ kind: "ServiceAccount", name, namespace: slug }],
  });
  return await tokenOf(session, name);
}

export async function tokenOf(session: Session, name: string, spec: object = {}): Promise<string> {
  const path = `/api/v1/namespaces/${session.slug}/serviceaccounts/${name}/token`;
  const answer = await session.quietly("POST", path, {
    apiVersion: "authentication.k8s.io/v1",
    kind: "TokenRequest",
    spec,
  });
  return String(answer?.status?.token ?? "");
}

/** Creates an account for each name, with these rules. @returns what sends requests as each of them */
export async function makePeople(
  session: Session,
  people: Readonly<Record<string, readonly Rule[]>>,
): Promise<readonly (readonly [name: string, requests: Requests])[]> {
  await session.createNamespace();
  const senders: [string, Requests][] = [];
  for (const [name, rules] of Object.entries(people))
    senders.push([name, session.by(await makeAccount(session, name, rules))]);
  await session.noticed(600);
  return senders;
}
