/** Maintains a ConfigMap with the cluster's certificate authority in each namespace, for pods that call the API server. */
import { allow, defineController, type Definition, isConflict, watch } from "../../index.ts";
import { ConfigMap, Namespace } from "../../resource/builtin/index.ts";
import { sameJson } from "../../resource/json.ts";
import { createInNamespace } from "./create-in-namespace.ts";

const NAME = "kube-root-ca.crt";
const DESCRIPTION = "kubernetes.io/description";
const TEXT =
  "Contains a CA bundle that can be used to verify the kube-apiserver when using internal endpoints such as the " +
  "internal service IP or kubernetes.default.svc. No other usage is guaranteed across distributions of Kubernetes clusters.";

/** Restores the ConfigMap in every namespace when it is missing or was changed. @param certificates PEM */
export function rootCertificates(certificates: string): Definition {
  const data = { "ca.crt": certificates };
  return defineController({
    name: "root-ca-cert-publisher",
    for: watch(Namespace, { match: ({ status }) => status?.phase === "Active" }),
    watches: [
      watch(ConfigMap, {
        fields: `metadata.name=${NAME}`,
        enqueue: ({ metadata: { namespace } }) => [{ name: namespace }],
      }),
    ],
    uses: [allow(ConfigMap, "create", "update")],
    async reconcile({ metadata: { name: namespace } }, { client }) {
      const key = { namespace, name: NAME };
      const annotations = { [DESCRIPTION]: TEXT };
      const found = await client.find(ConfigMap, key);
      if (found === undefined) return createInNamespace(client, ConfigMap, { metadata: { ...key, annotations }, data });
      if (sameJson(found.data, data) && found.metadata.annotations?.[DESCRIPTION]) return;
      const metadata = { ...found.metadata, annotations: { ...found.metadata.annotations, ...annotations } };
      await client.update(ConfigMap, { ...found, metadata, data }).catch((error: unknown) => {
        if (!isConflict(error)) throw error; // its next event arrives soon
      });
    },
  });
}
