/**
 * Maintains the objects by which pods are identified to the API server: accounts, tokens and the server's certificates.
 */
import {
  allow,
  type Client,
  defineController,
  type Definition,
  isAlreadyExists,
  isConflict,
  isNotFound,
  type Resource,
  type Shape,
  watch,
} from "../../index.ts";
import { ConfigMap, Namespace, ServiceAccount } from "../../resource/builtin/index.ts";
import { sameJson } from "../../resource/json.ts";
import { isNamespaceTerminating } from "../workload/pod-control.ts";
import { tokenSecrets } from "./token-secrets.ts";

/** Returns the controllers of service accounts. @param certificates PEM; without them there are only accounts. */
export function serviceAccountControllers(certificates: string | undefined): readonly Definition[] {
  if (certificates === undefined) return [defaultAccounts()];
  return [defaultAccounts(), rootCertificates(certificates), tokenSecrets(certificates)];
}

/** Creates the account `default` where it is missing, also after somebody deleted it. */
function defaultAccounts(): Definition {
  return defineController({
    name: "default-service-account",
    for: watch(Namespace, { match: ({ status }) => status?.phase === "Active" }),
    watches: [
      watch(ServiceAccount, {
        select: "metadata",
        on: ({ type, object }) => type === "delete" && object.metadata.name === "default",
        enqueue: ({ metadata: { namespace } }) => [{ name: namespace }],
      }),
    ],
    uses: [allow(ServiceAccount, "create")],
    async reconcile({ metadata: { name: namespace } }, { client }) {
      const key = { namespace, name: "default" };
      if ((await client.find(ServiceAccount, key)) !== undefined) return;
      await createInNamespace(client, ServiceAccount, { metadata: key });
    },
  });
}

const ROOT_CERTIFICATES = "kube-root-ca.crt";
const DESCRIPTION = "kubernetes.io/description";
const TEXT =
  "Contains a CA bundle that can be used to verify the kube-apiserver when using internal endpoints such as the " +
  "internal service IP or kubernetes.default.svc. No other usage is guaranteed across distributions of Kubernetes clusters.";

/** Maintains a ConfigMap with the certificate authority (PEM) in each namespace, for pods that call the server. */
function rootCertificates(certificates: string): Definition {
  const data = { "ca.crt": certificates };
  return defineController({
    name: "root-ca-cert-publisher",
    for: watch(Namespace, { match: ({ status }) => status?.phase === "Active" }),
    watches: [
      watch(ConfigMap, {
        fields: `metadata.name=${ROOT_CERTIFICATES}`,
        enqueue: ({ metadata: { namespace } }) => [{ name: namespace }],
      }),
    ],
    uses: [allow(ConfigMap, "create", "update")],
    async reconcile({ metadata: { name: namespace } }, { client }) {
      const key = { namespace, name: ROOT_CERTIFICATES };
      const annotations = { [DESCRIPTION]: TEXT };
      const existing = await client.find(ConfigMap, key);
      if (existing === undefined)
        return createInNamespace(client, ConfigMap, { metadata: { ...key, annotations }, data });
      if (sameJson(existing.data, data) && existing.metadata.annotations?.[DESCRIPTION]) return;
      const metadata = { ...existing.metadata, annotations: { ...existing.metadata.annotations, ...annotations } };
      await client.update(ConfigMap, { ...existing, metadata, data }).catch((error: unknown) => {
        if (!isConflict(error)) throw error; // its next event arrives soon
      });
    },
  });
}

/** Creates an object, unless it exists already or its namespace is gone or being deleted. */
async function createInNamespace<S extends Shape>(
  client: Client,
  kind: Resource<S>,
  object: S["write"],
): Promise<void> {
  try {
    await client.create(kind, object);
  } catch (error) {
    if (!isAlreadyExists(error) && !isNotFound(error) && !isNamespaceTerminating(error)) throw error;
  }
}
