/** The embedded cluster for a test, in this process and in memory. */
import { startEmbeddedCluster } from "../cluster/index.ts";
import { answered } from "./answered.ts";
import { givingWay } from "./giving-way.ts";
import type { Server, ServerOptions } from "./server.ts";

export async function startEmbedded({ pods, clock, journal }: ServerOptions): Promise<Server> {
  const cluster = await startEmbeddedCluster({ pods, clock, through: (answer) => journal.through(givingWay(answer)) });
  const { config, kubeconfig } = cluster;
  return {
    config,
    kubeconfig,
    backstage: cluster.as(),
    as: async (account) => {
      const reached = cluster.as(account);
      return answered(reached, journal.through(givingWay(reached.answer!)));
    },
    stop: () => cluster.stop(),
  };
}
