/** Makes a client without a controller, whose reads all go to the server. */
import { InformerRegistry } from "../cache/informer-registry.ts";
import type { Client } from "../client/client.ts";
import { clientCore, KubeClient } from "../client/kube-client.ts";
import { Permissions } from "../client/permissions.ts";
import { openGate } from "../kube/transport/write-gate.ts";
import type { ClusterConfig } from "../kube/config/cluster-config.ts";
import { RestMapper } from "../kube/api/mapper.ts";
import { createTransport } from "../kube/transport/transport.ts";
import type { Log } from "../observe/log.ts";

export interface ApiClient {
  readonly client: Client;
  close(): Promise<void>;
}

/** Returns the client. @param manager the field manager of its writes. */
export function apiClient(cluster: ClusterConfig, { manager, log }: { manager: string; log: Log }): ApiClient {
  const transport = createTransport(cluster, { userAgent: manager });
  const mapper = new RestMapper(transport);
  const core = clientCore({
    transport,
    mapper,
    informers: new InformerRegistry({ transport, mapper, log }),
    manager,
    declared: new Map(),
    permissions: new Permissions(),
    onUndeclared: undefined,
  });
  const client = new KubeClient(core, { gate: openGate, requestSignal: undefined, origin: manager });
  return {
    client,
    close: async () => {
      core.reader[Symbol.dispose]();
      await transport.close();
    },
  };
}
