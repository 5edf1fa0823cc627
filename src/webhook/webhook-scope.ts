/** The client of a webhook: it reads declared kinds from the caches, and everything else from the server. */
import { KubeClient } from "../client/kube-client.ts";
import type { Permissions } from "../client/permissions.ts";
import type { Declarations } from "../controller/declarations.ts";
import { DeclaredReader, readerDeclarations } from "../controller/declared-reader.ts";
import type { Runtime } from "../controller/runtime.ts";
import { webhookName } from "./declared-webhook.ts";
import type { AnyWebhook } from "./definition.ts";
import type { ScopedWebhook } from "./webhook-host.ts";

function declarations(webhook: AnyWebhook): Declarations {
  const { reads, uses } = webhook;
  return readerDeclarations(webhook, { name: webhookName(webhook), ...(reads && { reads }), ...(uses && { uses }) });
}

/** Returns the permissions of a webhook's `reads` and `uses` for its client. */
export function permissionsOfWebhook(webhook: AnyWebhook): Permissions {
  return declarations(webhook).permissions;
}

/** Makes the client of a webhook and takes a lease of each kind that it reads. */
export function webhookScope(webhook: AnyWebhook, module: string, runtime: Runtime): ScopedWebhook {
  const declared = declarations(webhook);
  const reader = new DeclaredReader(declared, module, runtime);
  return {
    scope: {
      name: declared.name,
      module,
      webhook,
      clientOf: (call) => new KubeClient(reader.core, call),
      log: runtime.log.with({ module }),
      services: runtime.services?.use,
    },
    get notReady() {
      const late = reader.leases.find(({ hasSynced }) => !hasSynced);
      return late === undefined ? undefined : `its cache of ${late.informer.resource.kind} has not synced`;
    },
    [Symbol.dispose]: () => reader[Symbol.dispose](),
  };
}
