/**
 * The one door to the embedded API server and its cluster: nothing outside this folder imports its other files.
 *
 * The server and the cluster are loaded by the first call, so that a program which only needs a certificate or a type does
 * not pay for them.
 */
import type { ListeningApiServer, ListenOptions } from "./apiserver/listen.ts";
import type { ApiServer, ApiServerOptions } from "./apiserver/server.ts";
import type { EmbeddedCluster, EmbeddedClusterOptions } from "./cluster/embedded-cluster.ts";
import type { startClusterControllers as StartClusterControllers } from "./cluster/start-controllers.ts";

export {
  type Certificate,
  createAuthority,
  createKey,
  issue,
  type Subject,
} from "./apiserver/certificates/certificate.ts";
export * as der from "./apiserver/certificates/der.ts";
export { AppliedVersions } from "./apiserver/patch/applied-versions.ts";
export { VersionSchema } from "./apiserver/schema/version-schema.ts";
export { isLoopback } from "./apiserver/web-guard.ts";
export type { ContainerScript, ContainerStart, PodBehaviour } from "./cluster/pods/pod-behaviour.ts";
export type { ApiServer, EmbeddedCluster, ListeningApiServer };

/** Starts an API server that answers in this process. */
export async function createApiServer(options?: ApiServerOptions): Promise<ApiServer> {
  return (await import("./apiserver/server.ts")).createApiServer(options);
}

/** Starts an API server that listens on an address. */
export async function listenApiServer(options?: ListenOptions): Promise<ListeningApiServer> {
  return (await import("./apiserver/listen.ts")).listenApiServer(options);
}

/** Starts an API server with the controllers of a cluster and pods that run. */
export async function startEmbeddedCluster(options?: EmbeddedClusterOptions): Promise<EmbeddedCluster> {
  return (await import("./cluster/embedded-cluster.ts")).startEmbeddedCluster(options);
}

/** Starts the controllers of a cluster against an API server. */
export const startClusterControllers: typeof StartClusterControllers = async (cluster, options) =>
  (await import("./cluster/start-controllers.ts")).startClusterControllers(cluster, options);
