/** Maintains what identifies pods to the API server: their accounts, tokens and the server's certificates. */
import { type Definition, allow, defineController, watch } from "../../index.ts";
import { rootCertificates } from "./root-certificates.ts";
import { tokenSecrets } from "./token-secrets.ts";
import { Namespace, ServiceAccount } from "../../resource/builtin/index.ts";
import { createInNamespace, isDefault } from "./create-in-namespace.ts";

/**
 * Returns the controllers of service accounts. @param certificates the server's, PEM; without them only the accounts
 * are created
 */
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
        on: ({ type, object }) => type === "delete" && isDefault(object),
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
