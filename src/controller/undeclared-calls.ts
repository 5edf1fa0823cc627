/**
 * Warns once about each call that a controller did not declare, with the line to add: RBAC is made from declarations.
 */
import type { ClientScope } from "../client/client-scope.ts";
import { declarationOf } from "../client/undeclared-call.ts";
import type { Log } from "../observe/log.ts";
import { groupKind } from "../resource/handle.ts";

export function warnOnce(log: Pick<Log, "warn">): ClientScope["onUndeclared"] {
  const warned = new Set<string>();
  return (resource, verb, subresource) => {
    const call = `${verb} ${groupKind(resource)}${subresource === undefined ? "" : `/${subresource}`}`;
    if (warned.has(call)) return;
    warned.add(call);
    log.warn(`A call is not declared: add \`${declarationOf({ resource, verbs: [verb], subresource })}\``, { call });
  };
}
