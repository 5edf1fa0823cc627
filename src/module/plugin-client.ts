/** The client of a plugin: it reads declared kinds from the caches, and writes under the plugin's name. */
import type { InformerLease } from "../cache/informer-registry.ts";
import type { Client } from "../client/client.ts";
import { definedIndex, type Index } from "../client/field-index.ts";
import { KubeClient } from "../client/kube-client.ts";
import type { Permissions } from "../client/permissions.ts";
import { ControllerGate } from "../controller/controller-scope.ts";
import type { Declarations } from "../controller/declarations.ts";
import { DeclaredReader, readerDeclarations } from "../controller/declared-reader.ts";
import type { Runtime } from "../controller/runtime.ts";
import { groupKind, type Resource, type Shape } from "../resource/handle.ts";
import type { Plugin } from "./plugin.ts";

function declarations(plugin: Plugin): Declarations {
  return readerDeclarations(plugin, plugin);
}

/** Returns the permissions of a plugin's `reads` and `uses`. */
export function permissionsOfPlugin(plugin: Plugin): Permissions {
  return declarations(plugin).permissions;
}

export interface PluginClientOptions {
  readonly module: string;
  /**
   * Called with every object that is read and written, so that the plugin's messages contain none of its sensitive
   * values.
   */
  readonly keep: (resource: Resource, object: unknown) => void;
  /** Fires when the plugin has left; then it sends nothing any more. */
  readonly gone: AbortSignal;
}

/** A plugin's client and the caches from which it reads; they are released when the plugin has left. */
export interface PluginClient {
  readonly client: Client;
  /**
   * Keeps an index of a kind that the plugin reads. @throws TypeError for another kind, and for a value that is not an
   * index.
   */
  keepIndex(index: Index<Shape>): void;
  /** Resolves when its caches have synced, or cannot. */
  warm(signal: AbortSignal): Promise<void>;
}

export function pluginClient(
  plugin: Plugin,
  runtime: Runtime,
  { module, gone, keep }: PluginClientOptions,
): PluginClient {
  const reader = new DeclaredReader(declarations(plugin), module, runtime);
  const { core, leases } = reader;
  const gate = new ControllerGate(runtime.leadership);
  const leave = (): void => {
    gate.close(`plugin '${plugin.name}' has left`);
    reader[Symbol.dispose]();
  };
  gone.addEventListener("abort", leave, { once: true });
  return {
    client: new KubeClient(core, { gate, requestSignal: gone, origin: "", keep }),
    keepIndex: (index) => {
      const defined = definedIndex(index);
      if (defined === undefined)
        throw new TypeError(`Cannot keep an index for plugin '${plugin.name}': expected what defineIndex returns`);
      const { kind } = defined.resource;
      if (!core.scope.declared.has(groupKind(defined.resource))) {
        throw new TypeError(`Cannot keep an index of ${kind} for plugin '${plugin.name}': add ${kind} to its 'reads'`);
      }
      core.reader.keepIndex(defined);
    },
    warm: async (signal) => {
      await Promise.all(leases.map((lease) => synced(lease, signal)));
    },
  };
}

/** Resolves when the lease has the objects that it needs, or cannot get them, and when the signal fires. */
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
