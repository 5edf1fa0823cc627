/** The embedded cluster for a test: in this process, in memory. */
import { startEmbeddedCluster } from "../cluster/embedded-cluster.ts";
import type { Server, ServerOptions } from "./server.ts";

export async function startEmbedded({ pods, clock, journal }: ServerOptions): Promise<Server> {
  const cluster = await startEmbeddedCluster({ pods, clock, through: (answer) => journal.through(answer) });
  const { config, kubeconfig } = cluster;
  return { config, kubeconfig, stop: () => cluster.stop() };
}
