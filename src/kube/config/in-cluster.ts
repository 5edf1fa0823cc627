/** The service account of our pod, in the form of a kubeconfig. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { isIPv6 } from "./ip-address.ts";
import type { Kubeconfig } from "./kubeconfig-file.ts";

const DIRECTORY = "/var/run/secrets/kubernetes.io/serviceaccount";
const NAME = "in-cluster";

/**
 * Returns the kubeconfig of the pod that this process runs in.
 *
 * @returns undefined when this is not a pod with a service account.
 * @see https://kubernetes.io/docs/tasks/run-application/access-api-from-pod/
 */
export async function inClusterKubeconfig(
  env: Readonly<Record<string, string | undefined>>,
  directory: string = DIRECTORY,
): Promise<Kubeconfig | undefined> {
  const host = env["KUBERNETES_SERVICE_HOST"];
  const port = env["KUBERNETES_SERVICE_PORT"];
  const tokenFile = join(directory, "token");
  if (!host || !port || !(await isReadable(tokenFile))) return undefined;
  const namespace = await readFile(join(directory, "namespace"), "utf8").catch(() => "");
  const cluster = {
    server: `https://${isIPv6(host) ? `[${host}]` : host}:${port}`,
    "certificate-authority": join(directory, "ca.crt"),
  };
  return {
    isInCluster: true,
    files: [directory],
    currentContext: NAME,
    clusters: new Map([[NAME, { entry: cluster, file: directory }]]),
    users: new Map([[NAME, { entry: { tokenFile }, file: directory }]]),
    contexts: new Map([
      [NAME, { entry: { cluster: NAME, user: NAME, namespace: namespace.trim() || undefined }, file: directory }],
    ]),
  };
}

function isReadable(file: string): Promise<boolean> {
  return readFile(file).then(
    () => true,
    () => false,
  );
}
