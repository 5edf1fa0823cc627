/**
 * The one door to the embedded cluster: the API server with the controllers of a cluster and pods that run. Nothing
 * outside this folder imports its other files.
 *
 * The cluster is loaded by the first call, so that a program which only needs a type does not pay for it.
 */
import type { EmbeddedCluster, EmbeddedClusterOptions } from "./embedded-cluster.ts";
import type { startClusterControllers as StartClusterControllers } from "./start-controllers.ts";

export type { ContainerScript, ContainerStart, PodBehaviour } from "./pods/pod-behaviour.ts";
export type { EmbeddedCluster };

/** Starts an API server with the controllers of a cluster and pods that run. */
export async function startEmbeddedCluster(options?: EmbeddedClusterOptions): Promise<EmbeddedCluster> {
  return (await import("./embedded-cluster.ts")).startEmbeddedCluster(options);
}

/** Starts the controllers of a cluster against an API server. */
export const startClusterControllers: typeof StartClusterControllers = async (cluster, options) =>
  (await import("./start-controllers.ts")).startClusterControllers(cluster, options);
