/**
 * Makes the client of a webhook, which reads what the webhook declares from the shared informers, and everything else
 * from the server.
 */
import type { SharedInformer } from "../cache/shared-informer.ts";
import type { InformerLease } from "../cache/informer-registry.ts";
import { clientCore, KubeClient } from "../client/kube-client.ts";
import type { Permissions } from "../client/permissions.ts";
import { type Declarations, declarationsOf } from "../controller/declarations.ts";
import type { KeyController } from "../controller/definition.ts";
import { EVERYTHING } from "../controller/needs.ts";
import type { Runtime } from "../controller/runtime.ts";
import { warnOnce } from "../controller/undeclared-calls.ts";
import { keptPaths, type KindWatch } from "../controller/watch.ts";
import { groupKind } from "../resource/handle.ts";
import { webhookName } from "./declared-webhook.ts";
import type { AnyWebhook } from "./definition.ts";
import type { ScopedWebhook } from "./webhook-host.ts";

type WebhookRuntime = Pick<
  Runtime,
  "transport" | "mapper" | "informers" | "log" | "settings" | "warnUndeclared" | "services"
>;

/** Definitions never change, and are requested again and again. */
const known = new WeakMap<AnyWebhook, Declarations>();

/** Returns what a webhook declares, in the form of a controller that only reads. */
function declarations(webhook: AnyWebhook): Declarations {
  let found = known.get(webhook);
  if (found === undefined) {
    const { reads = [], uses = [] } = webhook;
    const reader: KeyController = { name: webhookName(webhook), reads, uses, reconcile: () => Promise.resolve() };
    known.set(webhook, (found = declarationsOf(reader)));
  }
  return found;
}

/** Returns what a webhook's `reads` and `uses` permit its client. */
export function permissionsOfWebhook(webhook: AnyWebhook): Permissions {
  return declarations(webhook).permissions;
}

/** Makes the client of a webhook and takes a lease of each kind that it reads. */
export function webhookScope(webhook: AnyWebhook, module: string, runtime: WebhookRuntime): ScopedWebhook {
  const { transport, mapper, informers, log, settings, warnUndeclared } = runtime;
  const { name, reads, permissions } = declarations(webhook);
  const leases: InformerLease[] = [];
  const declared = new Map<string, SharedInformer[]>();
  for (const watch of reads) {
    const lease = informers.acquire(watch.resource, {
      ...selection(watch, settings.namespace),
      user: `${module}/${name}`,
    });
    leases.push(lease);
    const id = groupKind(watch.resource);
    declared.set(id, [...(declared.get(id) ?? []), lease.informer]);
  }
  const core = clientCore({
    transport,
    mapper,
    informers,
    manager: name,
    declared,
    permissions,
    onUndeclared: warnUndeclared ? warnOnce(log.with({ module, controller: name })) : undefined,
  });
  return {
    scope: {
      name,
      module,
      webhook,
      clientOf: (call) => new KubeClient(core, call),
      log: log.with({ module }),
      services: runtime.services?.use,
    },
    get notReady() {
      const late = leases.find(({ hasSynced }) => !hasSynced);
      return late === undefined ? undefined : `its cache of ${late.informer.resource.kind} has not synced`;
    },
    [Symbol.dispose]: () => {
      core.reader[Symbol.dispose]();
      for (const lease of leases) lease.release();
    },
  };
}

function selection({ resource, options, ...watch }: KindWatch, all: readonly string[] | undefined) {
  const { labels, fields, namespaces } = options;
  return {
    namespaces: namespaces ?? (resource.scope === "Cluster" ? [] : all),
    labels,
    fields,
    keep: keptPaths({ resource, options, ...watch }),
    needs: EVERYTHING,
  };
}
