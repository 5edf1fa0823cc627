/** A cluster for those who use informers without the rest of the house. */
import { loadKubeconfig, type LoadOptions } from "../kube/config/kubeconfig.ts";
import { RestMapper } from "../kube/api/mapper.ts";
import { createTransport, type Transport } from "../kube/transport/transport.ts";

export interface Connection extends AsyncDisposable {
  readonly transport: Transport;
  readonly mapper: RestMapper;
}

/**
 * Reads a kubeconfig as `binnacle run` does; nothing is sent before the first request.
 *
 * @throws ConfigError when there is no cluster to be found.
 */
export async function connect(options: LoadOptions = {}): Promise<Connection> {
  const transport = createTransport(await loadKubeconfig(options));
  return { transport, mapper: new RestMapper(transport), [Symbol.asyncDispose]: () => transport.close() };
}
