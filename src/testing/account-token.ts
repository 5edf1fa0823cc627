/** Creates a service account with its namespace on a real server, and gets a token for it. */
import { namespaceManifest, type ServiceAccount } from "../module/rbac-manifests.ts";
import type { ClusterConfig } from "../kube/config/cluster-config.ts";

/** Returns the token. @throws Error when the server issues none. */
export async function accountToken({ server, answer }: ClusterConfig, account: ServiceAccount): Promise<string> {
  const { namespace, name } = account;
  const send = (path: string, body: object): Promise<Response> => {
    const headers = { "content-type": "application/json" };
    return answer!(new Request(server + path, { method: "POST", headers, body: JSON.stringify(body) }));
  };
  const accounts = `/api/v1/namespaces/${namespace}/serviceaccounts`;
  // Existing objects are fine.
  for (const body of namespaceManifest(namespace)) await send("/api/v1/namespaces", body);
  await send(accounts, { apiVersion: "v1", kind: "ServiceAccount", metadata: { name, namespace } });
  const request = { apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest", spec: { expirationSeconds: 86_400 } };
  const response = await send(`${accounts}/${name}/token`, request);
  const { status, message } = (await response.json()) as {
    readonly status?: { readonly token?: string };
    readonly message?: string;
  };
  if (status?.token === undefined) throw new Error(`Cannot get a token of ${namespace}/${name}: ${message}`);
  return status.token;
}
