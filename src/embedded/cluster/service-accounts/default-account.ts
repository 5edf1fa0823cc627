/** Each namespace has a service account `default`, for pods that name none. */
import { allow, defineController, type Definition, watch } from "../../../index.ts";
import { Namespace, ServiceAccount } from "../../../resource/builtin/index.ts";
import { createInNamespace, isDefault } from "./create-in-namespace.ts";

/** Makes the account `default` where it is missing, also when somebody deleted it. */
export function defaultAccounts(): Definition {
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
