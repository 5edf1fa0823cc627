/** Connects to a cluster for programs that use informers on their own. */
import { loadKubeconfig, type LoadOptions } from "../kube/config/kubeconfig.ts";
import { RestMapper } from "../kube/api/mapper.ts";
import { createTransport, type Transport } from "../kube/transport/transport.ts";

export interface Connection extends AsyncDisposable {
  readonly transport: Transport;
  readonly mapper: RestMapper;
}

/**
 * Reads a kubeconfig as `binnacle run` does. Nothing is sent before the first request.
 *
 * @throws ConfigError when no cluster is configured.
 */
export async function connect(options: LoadOptions = {}): Promise<Connection> {
  const transport = createTransport(await loadKubeconfig(options));
  return { transport, mapper: new RestMapper(transport), [Symbol.asyncDispose]: () => transport.close() };
}
