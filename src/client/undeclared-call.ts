/** Relates a 403 to the declarations of the controller, which are the source of its RBAC rules. */
import { isForbidden } from "../kube/errors/api-error.ts";
import type { HeaderValues } from "../kube/config/cluster-config.ts";
import type { Resource } from "../resource/handle.ts";
import type { ClientScope } from "./client-scope.ts";

export interface ApiCall {
  readonly resource: Resource;
  /** The verbs that the call needs. */
  readonly verbs: readonly string[];
  readonly subresource?: string | undefined;
  /** The headers of an impersonated request. */
  readonly headers?: HeaderValues | undefined;
}

/** The line that declares a call. */
export function declarationOf({ resource, verbs, subresource }: ApiCall): string {
  const prefix = subresource === undefined ? "" : `${subresource}/`;
  return `uses: [allow(${[resource.kind, ...verbs.map((verb) => `"${prefix}${verb}"`)].join(", ")})]`;
}

/**
 * Reports the verbs of a call that the controller does not declare. An impersonated call needs the permissions of the
 * other user.
 */
export function reportUndeclared(
  { permissions, onUndeclared }: Pick<ClientScope, "permissions" | "onUndeclared">,
  { resource, verbs, subresource, headers }: ApiCall,
): void {
  if (onUndeclared === undefined || headers !== undefined) return;
  for (const verb of verbs) {
    if (!permissions.allows(resource, verb, subresource)) onUndeclared(resource, verb, subresource);
  }
}

/** Adds to a refusal the declaration that the controller lacks. @returns the error */
export function explained<T>(error: T, scope: Pick<ClientScope, "permissions" | "manager">, call: ApiCall): T {
  if (!isForbidden(error)) return error;
  const line = missingLine(error.message, scope, call);
  if (line !== undefined) error.message += `; controller '${scope.manager}' does not declare it: add \`${line}\``;
  return error;
}

function missingLine(
  message: string,
  { permissions }: Pick<ClientScope, "permissions">,
  { headers = {}, ...call }: ApiCall,
): string | undefined {
  const user = headers["Impersonate-User"];
  if (user === undefined) {
    if (message.includes(" attempting to grant RBAC permissions not currently held")) return giving(call.resource);
    const verbs = call.verbs.filter((verb) => !permissions.allows(call.resource, verb, call.subresource));
    return verbs.length === 0 ? undefined : declarationOf({ ...call, verbs });
  }
  // In an impersonated request it is the other user who lacks the permission.
  if (!message.includes(" cannot impersonate")) return undefined;
  const isAccount = String(user).startsWith("system:serviceaccount:");
  const handles = [
    isAccount ? "ServiceAccount" : 'resource("v1", "User")',
    ...(headers["Impersonate-Group"] === undefined ? [] : ['resource("v1", "Group")']),
    ...(headers["Impersonate-Uid"] === undefined ? [] : ['resource("authentication.k8s.io/v1", "UID")']),
  ];
  return `uses: [${handles.map((handle) => `allow(${handle}, "impersonate")`).join(", ")}]`;
}

/** These verbs allow granting a role's permissions without having them. */
function giving({ kind }: Resource): string {
  return kind.endsWith("Binding")
    ? 'uses: [allow(ClusterRole, "bind", { names: […] })]'
    : `uses: [allow(${kind}, "escalate")]`;
}
