/** Looks for the address of this machine at which a local cluster reaches it. */
import type { ClusterConfig } from "../kube/config/cluster-config.ts";
import { createTransport } from "../kube/transport/transport.ts";
import type { Log } from "../observe/log.ts";
import { reachableHost } from "../webhook/registration/reachable-host.ts";

/** Milliseconds: a server that is away is waited for by the controllers. */
const WITHIN = 3_000;

/** @returns `undefined` when there is none, or the cluster does not say. */
export async function findHost(cluster: ClusterConfig, log: Log): Promise<string | undefined> {
  const transport = createTransport(cluster, { userAgent: "binnacle" });
  try {
    return await reachableHost({ transport, signal: AbortSignal.timeout(WITHIN) });
  } catch (error) {
    log.debug("Cannot look for the address at which the cluster reaches this machine", { error });
    return undefined;
  } finally {
    await transport.close();
  }
}
