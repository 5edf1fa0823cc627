/**
 * The one door to the embedded API server and its cluster: nothing outside this folder imports its other files.
 *
 * The server and the cluster are loaded by the first call, so that a program which only needs a certificate or a type does
 * not pay for them.
 */
import type { ListeningApiServer, ListenOptions } from "../../packages/apiserver/src/listen.ts";
import type { ApiServer, ApiServerOptions } from "../../packages/apiserver/src/server.ts";
import type { EmbeddedCluster, EmbeddedClusterOptions } from "./embedded-cluster.ts";
import type { startClusterControllers as StartClusterControllers } from "./start-controllers.ts";

export {
  type Certificate,
  createAuthority,
  createKey,
  issue,
  type Subject,
} from "../../packages/apiserver/src/certificates/certificate.ts";
export * as der from "../../packages/apiserver/src/certificates/der.ts";
export { AppliedVersions } from "../../packages/apiserver/src/patch/applied-versions.ts";
export { VersionSchema } from "../../packages/apiserver/src/schema/version-schema.ts";
export { isLoopback } from "../../packages/apiserver/src/web-guard.ts";
export type { ContainerScript, ContainerStart, PodBehaviour } from "./pods/pod-behaviour.ts";
export type { ApiServer, EmbeddedCluster, ListeningApiServer };

/** Starts an API server that answers in this process. */
export async function createApiServer(options?: ApiServerOptions): Promise<ApiServer> {
  return (await import("../../packages/apiserver/src/server.ts")).createApiServer(options);
}

/** Starts an API server that listens on an address. */
export async function listenApiServer(options?: ListenOptions): Promise<ListeningApiServer> {
  return (await import("../../packages/apiserver/src/listen.ts")).listenApiServer(options);
}

/** Starts an API server with the controllers of a cluster and pods that run. */
export async function startEmbeddedCluster(options?: EmbeddedClusterOptions): Promise<EmbeddedCluster> {
  return (await import("./embedded-cluster.ts")).startEmbeddedCluster(options);
}

/** Starts the controllers of a cluster against an API server. */
export const startClusterControllers: typeof StartClusterControllers = async (cluster, options) =>
  (await import("./start-controllers.ts")).startClusterControllers(cluster, options);
