/** Finds the address at which a local cluster reaches this machine. */
import type { ClusterConfig } from "../kube/config/cluster-config.ts";
import { createTransport } from "../kube/transport/transport.ts";
import type { Log } from "../observe/log.ts";
import { reachableHost } from "../webhook/registration/reachable-host.ts";

/** The timeout in milliseconds; controllers wait for a server that is unreachable. */
const WITHIN = 3_000;

/** Finds the address. @returns `undefined` when there is none, or when the cluster does not reveal it. */
export async function findHost(cluster: ClusterConfig, log: Log): Promise<string | undefined> {
  await using transport = createTransport(cluster, { userAgent: "binnacle" });
  try {
    return await reachableHost({ transport, signal: AbortSignal.timeout(WITHIN) });
  } catch (error) {
    log.debug("Cannot find the address at which the cluster reaches this machine", { error });
    return undefined;
  }
}
