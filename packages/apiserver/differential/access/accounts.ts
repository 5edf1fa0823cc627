/** Service accounts that send requests with tokens. */
import type { Session } from "../session.ts";
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

/** Returns the options of a request with a token and without a certificate. */
export function bearing(token: string): { credentials: "none"; headers: Record<string, string> } {
  return { credentials: "none", headers: { authorization: `Bearer ${token}` } };
}

export async function makeOwnNamespace(session: Session): Promise<void> {
  const metadata = { name: session.slug };
  await session.quietly("POST", "/api/v1/namespaces", { apiVersion: "v1", kind: "Namespace", metadata });
}
