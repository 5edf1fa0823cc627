/** The client of a plugin: it reads from the server, and writes with the plugin's name as field manager. */
import type { Client } from "../client/client.ts";
import { clientCore, KubeClient } from "../client/kube-client.ts";
import { Permissions } from "../client/permissions.ts";
import { ControllerGate } from "../controller/controller-gate.ts";
import { permitUses } from "../controller/declarations.ts";
import type { Runtime } from "../controller/runtime.ts";
import { warnOnce } from "../controller/undeclared-calls.ts";
import type { Resource } from "../resource/handle.ts";
import type { Plugin } from "./plugin.ts";

/** What a plugin's `uses` permit. */
export function permissionsOfPlugin({ uses = [] }: Plugin): Permissions {
  const permissions = new Permissions();
  permitUses(permissions, uses);
  return permissions;
}

export interface PluginClientOptions {
  readonly module: string;
  /** Told of what is read and written, so that nothing the plugin says repeats a sensitive value of it. */
  readonly keep: (resource: Resource, object: unknown) => void;
  /** Fires when the plugin has left: it sends nothing any more. */
  readonly gone: AbortSignal;
}

export function pluginClient(plugin: Plugin, runtime: Runtime, { module, gone, keep }: PluginClientOptions): Client {
  const { transport, mapper, informers, log } = runtime;
  const core = clientCore({
    transport,
    mapper,
    informers,
    manager: plugin.name,
    declared: new Map(),
    permissions: permissionsOfPlugin(plugin),
    onUndeclared: runtime.warnUndeclared ? warnOnce(log.with({ module, controller: plugin.name })) : undefined,
  });
  const gate = new ControllerGate(runtime.leadership);
  const close = (): void => gate.close(`plugin '${plugin.name}' has left`);
  gone.addEventListener("abort", close, { once: true });
  return new KubeClient(core, { gate, requestSignal: gone, origin: "", keep });
}
