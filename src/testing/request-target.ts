/** What a request asks for, read from its path. */

import type { RunningModule } from "./running-module.ts";

export type RequestVerb =
  "get" | "list" | "watch" | "create" | "update" | "patch" | "delete" | "deletecollection" | "other";

export interface RequestTarget {
  readonly method: string;
  readonly path: string;
  /** `other` for discovery, probes and the like. */
  readonly verb: RequestVerb;
  /** `""` for the core group. */
  readonly group: string;
  /** Such as `deployments`. */
  readonly plural: string;
  readonly namespace: string | undefined;
  readonly name: string | undefined;
  /** Such as `status`. */
  readonly subresource: string | undefined;
  /** Who sent it; `undefined` when it is no module's. */
  readonly module?: RunningModule | undefined;
}

const RESOURCE =
  /^\/(?:api|apis\/(?<group>[^/]+))\/v[^/]*\/(?:namespaces\/(?<namespace>[^/]+)\/)?(?<plural>[^/]+)(?:\/(?<name>[^/]+)(?:\/(?<subresource>.+))?)?$/;
/** A namespace is an object too, and its own name comes where that of other objects' namespace does. */
const NAMESPACE = /^\/api\/v1\/namespaces\/(?<name>[^/]+)(?:\/(?<subresource>status|finalize))?$/;

export function targetOf({ method, url }: { readonly method: string; readonly url: string }): RequestTarget {
  const { pathname: path, searchParams } = new URL(url);
  const own = NAMESPACE.exec(path)?.groups;
  const found = own === undefined ? RESOURCE.exec(path)?.groups : { ...own, plural: "namespaces" };
  const { group = "", namespace, plural = "", name, subresource } = found ?? {};
  const verb = found === undefined ? "other" : verbOf(method, { name, watch: searchParams.get("watch") });
  return { method, path, verb, group, plural, namespace, name, subresource };
}

function verbOf(method: string, of: { name: string | undefined; watch: string | null }): RequestVerb {
  if (method === "GET")
    return of.watch === "true" || of.watch === "1" ? "watch" : of.name === undefined ? "list" : "get";
  if (method === "POST") return "create";
  if (method === "PUT") return "update";
  if (method === "PATCH") return "patch";
  if (method === "DELETE") return of.name === undefined ? "deletecollection" : "delete";
  return "other";
}
