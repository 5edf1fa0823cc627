/**
 * Makes the client of a plugin, which reads what the plugin declares from the caches, and writes with the plugin's
 * name as field manager.
 */
import type { InformerLease } from "../cache/informer-registry.ts";
import type { SharedInformer } from "../cache/shared-informer.ts";
import type { Client } from "../client/client.ts";
import { definedIndex, type Index } from "../client/field-index.ts";
import { clientCore, KubeClient } from "../client/kube-client.ts";
import type { Permissions } from "../client/permissions.ts";
import { acquireKind } from "../controller/acquire-kind.ts";
import { ControllerGate } from "../controller/controller-gate.ts";
import { type Declarations, declarationsOf } from "../controller/declarations.ts";
import type { KeyController } from "../controller/definition.ts";
import { EVERYTHING } from "../controller/needs.ts";
import type { Runtime } from "../controller/runtime.ts";
import { warnOnce } from "../controller/undeclared-calls.ts";
import { groupKind, type Resource, type Shape } from "../resource/handle.ts";
import type { Plugin } from "./plugin.ts";

/** Definitions never change, and are requested again and again. */
const known = new WeakMap<Plugin, Declarations>();

/** Returns what a plugin declares, in the form of a controller that only reads. */
function declarations(plugin: Plugin): Declarations {
  let found = known.get(plugin);
  if (found === undefined) {
    const { name, reads = [], uses = [] } = plugin;
    const reader: KeyController = { name, reads, uses, reconcile: () => Promise.resolve() };
    known.set(plugin, (found = declarationsOf(reader)));
  }
  return found;
}

/** Returns what a plugin's `reads` and `uses` permit. */
export function permissionsOfPlugin(plugin: Plugin): Permissions {
  return declarations(plugin).permissions;
}

export interface PluginClientOptions {
  readonly module: string;
  /** Called with what is read and written, so that nothing the plugin says repeats a sensitive value of it. */
  readonly keep: (resource: Resource, object: unknown) => void;
  /** Fires when the plugin has left; then it sends nothing any more. */
  readonly gone: AbortSignal;
}

/** A plugin's client and the caches from which it reads; they are released when the plugin has left. */
export interface PluginClient {
  readonly client: Client;
  /** Keeps an index of a kind that the plugin reads. @throws TypeError for another kind, and for anything but an index. */
  keepIndex(index: Index<Shape>): void;
  /** Resolves when its caches have synced, or cannot. */
  warm(signal: AbortSignal): Promise<void>;
}

export function pluginClient(
  plugin: Plugin,
  runtime: Runtime,
  { module, gone, keep }: PluginClientOptions,
): PluginClient {
  const { transport, mapper, informers, log } = runtime;
  const { permissions, reads } = declarations(plugin);
  const leases: InformerLease[] = [];
  const declared = new Map<string, SharedInformer[]>();
  for (const watch of reads) {
    const lease = acquireKind(runtime, watch, { needs: EVERYTHING, user: `${module}/${plugin.name}` });
    leases.push(lease);
    const id = groupKind(watch.resource);
    declared.set(id, [...(declared.get(id) ?? []), lease.informer]);
  }
  const core = clientCore({
    transport,
    mapper,
    informers,
    manager: plugin.name,
    declared,
    permissions,
    onUndeclared: runtime.warnUndeclared ? warnOnce(log.with({ module, controller: plugin.name })) : undefined,
  });
  const gate = new ControllerGate(runtime.leadership);
  const leave = (): void => {
    gate.close(`plugin '${plugin.name}' has left`);
    core.reader[Symbol.dispose]();
    for (const lease of leases) lease.release();
  };
  gone.addEventListener("abort", leave, { once: true });
  return {
    client: new KubeClient(core, { gate, requestSignal: gone, origin: "", keep }),
    keepIndex: (index) => {
      const found = definedIndex(index);
      if (found === undefined)
        throw new TypeError(`Cannot keep an index for plugin '${plugin.name}': expected what defineIndex returns`);
      const { kind } = found.resource;
      if (!declared.has(groupKind(found.resource))) {
        throw new TypeError(`Cannot keep an index of ${kind} for plugin '${plugin.name}': add ${kind} to its 'reads'`);
      }
      core.reader.keepIndex(found);
    },
    warm: async (signal) => {
      await Promise.all(leases.map((lease) => synced(lease, signal)));
    },
  };
}

/** Resolves when the lease has what it needs, or cannot get it, and when the signal fires. */
async function synced(lease: InformerLease, signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const look = (): void => {
    const { kind } = lease.informer.state;
    if (lease.hasSynced || kind === "waiting" || kind === "unavailable" || signal.aborted) resolve();
  };
  using _listener = lease.informer.onChange(look);
  signal.addEventListener("abort", look, { once: true });
  look();
  await promise;
  signal.removeEventListener("abort", look);
}
