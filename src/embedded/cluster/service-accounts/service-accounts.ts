/** What pods are known by: accounts, and what they check the server with. */
import { type Definition, allow, defineController, watch } from "../../../index.ts";
import { rootCertificates } from "./root-certificates.ts";
import { tokenSecrets } from "./token-secrets.ts";
import { Namespace, ServiceAccount } from "../../../resource/builtin/index.ts";
import { createInNamespace, isDefault } from "./create-in-namespace.ts";

/** The controllers of service accounts. @param certificates of the server, PEM; without them only the accounts are made */
export function serviceAccountControllers(certificates: string | undefined): readonly Definition[] {
  if (certificates === undefined) return [defaultAccounts()];
  return [defaultAccounts(), rootCertificates(certificates), tokenSecrets(certificates)];
}

/** Makes the account `default` where it is missing, also when somebody deleted it. */
function defaultAccounts(): Definition {
  return defineController({
    name: "default-service-account",
    for: watch(Namespace, { match: ({ status }) => status?.phase === "Active" }),
    watches: [
      watch(ServiceAccount, {
        select: "metadata",
        on: ({ type, object }) => type === "delete" && isDefault(object),
        enqueue: ({ metadata: { namespace = "" } }) => [{ name: namespace }],
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
