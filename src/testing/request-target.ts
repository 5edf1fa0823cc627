/** Determines the target of a request from its path. */

import type { RunningModule } from "./running-module.ts";

export type RequestVerb =
  "get" | "list" | "watch" | "create" | "update" | "patch" | "delete" | "deletecollection" | "other";

export interface RequestTarget {
  readonly method: string;
  readonly path: string;
  /** The verb; `other` for discovery, probes and the like. */
  readonly verb: RequestVerb;
  /** The group; `""` for the core group. */
  readonly group: string;
  /** The plural, such as `deployments`. */
  readonly plural: string;
  readonly namespace: string | undefined;
  readonly name: string | undefined;
  /** The subresource, such as `status`. */
  readonly subresource: string | undefined;
  /** The module that sent it; `undefined` for any other sender. */
  readonly module?: RunningModule | undefined;
}

const RESOURCE =
  /^\/(?:api|apis\/(?<group>[^/]+))\/v[^/]*\/(?:namespaces\/(?<namespace>[^/]+)\/)?(?<plural>[^/]+)(?:\/(?<name>[^/]+)(?:\/(?<subresource>.+))?)?$/;
/** Matches the path of a namespace, which is an object too: its name is at the place of other objects' namespace. */
const NAMESPACE = /^\/api\/v1\/namespaces\/(?<name>[^/]+)(?:\/(?<subresource>status|finalize))?$/;

export function targetOf({ method, url }: { readonly method: string; readonly url: string }): RequestTarget {
  const { pathname: path, searchParams } = new URL(url);
  const own = NAMESPACE.exec(path)?.groups;
  const parts = own === undefined ? RESOURCE.exec(path)?.groups : { ...own, plural: "namespaces" };
  const { group = "", namespace, plural = "", name, subresource } = parts ?? {};
  const verb = parts === undefined ? "other" : verbOf(method, { name, watch: searchParams.get("watch") });
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
