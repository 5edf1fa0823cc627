/**
 * A Kubernetes API server in a JavaScript process: this is the one door to it.
 *
 * The server itself is loaded by the first call, so that a program which only needs a certificate or a schema does not pay
 * for it.
 */
import type { CheckedPolicy, ExpressionWarning } from "./cel/policy-warnings.ts";
import type { ListeningApiServer } from "./listen.ts";
import type { ListenOptions } from "./listen-options.ts";
import type { ServedApiServer, ServeOptions } from "./serve.ts";
import type { ApiServer, ApiServerOptions } from "./server.ts";

export { type PluginName, pluginNames } from "./admission/plugin-names.ts";
export { requirementsOf } from "./admission/quota/scopes.ts";
export { evaluatorOf } from "./admission/quota/usage.ts";
export { add, listFields, masked, type ResourceList, resourceList, zero } from "./admission/resource-list.ts";
export { accountUser } from "./authentication/tokens.ts";
export { type Certificate, createAuthority, createKey, issue, type Subject } from "./certificates/certificate.ts";
export * as der from "./certificates/der.ts";
export type { KubeObject, UserInfo } from "./hooks.ts";
export { kubernetesVersion } from "./kubernetes-version.ts";
export { AppliedVersions } from "./patch/applied-versions.ts";
export { VersionSchema } from "./schema/version-schema.ts";
export { serviceRanges, type ServiceRangeOptions } from "./validation/core/service-ranges.ts";
export { isLoopback } from "./web-guard.ts";
export type { TokenIssuerOptions } from "./authentication/token-issuer.ts";
export type { AuthorizationMode } from "./authorization/modes.ts";
export type { ApiServer, ApiServerOptions, ListeningApiServer, ListenOptions, ServedApiServer, ServeOptions };

/**
 * Returns a warning for each expression of a ValidatingAdmissionPolicy that does not fit a kind which the policy matches.
 *
 * @param definitions the CustomResourceDefinitions of the cluster
 */
export async function expressionWarnings(
  policy: CheckedPolicy,
  definitions: readonly object[],
): Promise<ExpressionWarning[]> {
  return (await import("./cel/policy-warnings.ts")).expressionWarnings(policy, definitions);
}

/** Starts an API server that answers in this process. */
export async function createApiServer(options?: ApiServerOptions): Promise<ApiServer> {
  return (await import("./server.ts")).createApiServer(options);
}

/** Starts an API server that listens on an address. */
export async function listenApiServer(options?: ListenOptions): Promise<ListeningApiServer> {
  return (await import("./listen.ts")).listenApiServer(options);
}

/** Starts an API server on an address with a certificate that is given. */
export async function serveApiServer(options: ServeOptions): Promise<ServedApiServer> {
  return (await import("./serve.ts")).serveApiServer(options);
}
