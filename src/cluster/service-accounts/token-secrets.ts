/** Fills Secrets that request a token of a service account. */
import { allow, defineController, type Definition, isConflict, watch } from "../../index.ts";
import { Secret, ServiceAccount } from "../../resource/builtin/index.ts";

const TYPE = "kubernetes.io/service-account-token";
const ACCOUNT = "kubernetes.io/service-account.name";
const ACCOUNT_UID = "kubernetes.io/service-account.uid";
/** Ten years, because the token lives as long as its Secret. */
const SECONDS = 315_360_000;

/**
 * Fills Secrets of type `kubernetes.io/service-account-token`, and deletes those whose account is gone.
 *
 * @param certificates PEM
 * @see https://kubernetes.io/docs/concepts/security/service-accounts/#get-a-token
 */
export function tokenSecrets(certificates: string): Definition {
  return defineController({
    name: "service-account-token",
    for: watch(Secret, { fields: `type=${TYPE}` }),
    watches: [
      watch(ServiceAccount, {
        select: "metadata",
        on: ({ type }) => type !== "update",
        enqueue: async ({ metadata: { name, namespace } }, { client }) => {
          const secrets = await client.list(Secret, { namespace });
          return secrets.filter((secret) => accountOf(secret) === name);
        },
      }),
    ],
    uses: [allow(Secret, "update", "delete"), allow(ServiceAccount, "token/create")],
    async reconcile(secret, { client }) {
      const { namespace, name, uid, resourceVersion, annotations = {} } = secret.metadata;
      const account = accountOf(secret);
      if (account === undefined) return;
      const owner = await client.live.find(ServiceAccount, { namespace, name: account });
      const isAnother = annotations[ACCOUNT_UID] !== undefined && annotations[ACCOUNT_UID] !== owner?.metadata.uid;
      if (owner === undefined || isAnother) {
        await client.delete(Secret, { namespace, name }, { preconditions: { uid, resourceVersion } });
        return;
      }
      const wanted = { "ca.crt": btoa(certificates), namespace: btoa(namespace) };
      const has = secret.data ?? {};
      const isFilled = has["token"] && has["ca.crt"] === wanted["ca.crt"] && has["namespace"] === wanted.namespace;
      if (isFilled && annotations[ACCOUNT_UID] !== undefined) return;
      const metadata = {
        ...secret.metadata,
        annotations: { ...annotations, [ACCOUNT_UID]: owner.metadata.uid },
      };
      const token = has["token"] ?? btoa(await tokenOf());
      await client
        .update(Secret, { ...secret, metadata, data: { ...has, ...wanted, token } })
        .catch((error: unknown) => {
          if (!isConflict(error)) throw error; // its next event arrives soon
        });

      async function tokenOf(): Promise<string> {
        const body = {
          apiVersion: "authentication.k8s.io/v1",
          kind: "TokenRequest",
          spec: { expirationSeconds: SECONDS },
        };
        const answer = await client.subresource("token").create(ServiceAccount, { namespace, name: account! }, body);
        return (answer as unknown as { readonly status: { readonly token: string } }).status.token;
      }
    },
  });
}

function accountOf({ metadata }: Secret): string | undefined {
  return metadata.annotations?.[ACCOUNT] || undefined;
}
