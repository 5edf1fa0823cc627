/** Makes a cluster whose requests a function serves. */
import type { ClusterConfig } from "../kube/config/cluster-config.ts";

export function answered(config: ClusterConfig, answer: (request: Request) => Promise<Response>): ClusterConfig {
  const { server, context, user, namespace } = config;
  return {
    server,
    context,
    user,
    namespace,
    get tls() {
      return config.tls;
    },
    answer,
    headers: (signal) => config.headers(signal),
    reload: () => config.reload(),
  };
}
