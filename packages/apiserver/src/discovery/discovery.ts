/** Serves discovery, in the legacy and in the aggregated form. */
import { createHash } from "node:crypto";
import type { Fields, KindRow } from "../hooks.ts";
import type { KindRegistry } from "../registry/kind-registry.ts";
import { apiVersionOf } from "../registry/resource.ts";
import { answerObject } from "../request/answer.ts";
import { accepted, type Accepted, type Form, type Served } from "../request/accept.ts";
import { checkConsumed } from "../request/body.ts";
import { methodNotAllowed } from "../status.ts";

export interface DiscoveryOptions {
  readonly registry: KindRegistry;
  /** The address `host:port` under which clients reach the server. */
  readonly address: string;
}

/**
 * Serves discovery paths; `undefined` for any other path.
 *
 * @throws StatusError 405, or 406 when the client accepts no form of the response
 */
export function discover(request: Request, path: string, options: DiscoveryOptions): Response | undefined {
  const parts = path.split("/").slice(1);
  while (parts.at(-1) === "") parts.pop();
  const [root, group, version] = parts;
  if (parts.includes("")) return undefined;
  if (root === "api") {
    if (parts.length === 1 || (parts.length === 2 && group === "v1")) checkRequest(request);
    if (parts.length === 1)
      return (
        aggregated(request, { ...options, core: true }) ??
        answerObject(request, versions(options), acceptedIn(request, "route"))
      );
    return parts.length === 2 ? resourceList(request, { ...options, group: "", version: group ?? "" }) : undefined;
  }
  if (root !== "apis") return undefined;
  if (group === undefined && path.endsWith("//")) return undefined;
  if (group === undefined)
    return (
      (path === "/apis" ? aggregated(request, { ...options, core: false }) : undefined) ??
      answerObject(request, groupList(options), acceptedIn(request, "handler"))
    );
  const served = options.registry.groups().find(({ name }) => name === group);
  if (served === undefined || parts.length > 3) return undefined;
  if (version !== undefined && served.versions.includes(version) && isBuiltIn(options.registry, group))
    checkRequest(request);
  if (version !== undefined) return resourceList(request, { ...options, group, version });
  const own = { kind: "APIGroup", apiVersion: "v1", ...groupFields(served) };
  return answerObject(request, own, acceptedIn(request, "handler"));
}

/** Checks what a route is chosen by before the form of the answer. @throws StatusError 405 or 415 */
function checkRequest(request: Request): void {
  if (request.method !== "GET") throw methodNotAllowed();
  checkConsumed(request, consumed);
}

const consumed: ReadonlySet<string> = new Set([
  "application/json",
  "application/yaml",
  "application/vnd.kubernetes.protobuf",
  "*/*",
]);

function isBuiltIn(registry: KindRegistry, group: string): boolean {
  return registry.rows().some((row) => row.group === group && !row.custom);
}

function acceptedIn(request: Request, served: Served, forms: readonly Form[] = []): Accepted {
  return accepted(request.headers.get("accept"), forms, { served, protobuf: true });
}

function versions({ address }: DiscoveryOptions): Fields {
  return {
    kind: "APIVersions",
    versions: ["v1"],
    serverAddressByClientCIDRs: [{ clientCIDR: "0.0.0.0/0", serverAddress: address }],
  };
}

function groupList({ registry }: DiscoveryOptions): Fields {
  return { kind: "APIGroupList", apiVersion: "v1", groups: registry.groups().map(groupFields) };
}

function groupFields({ name, versions: all }: { readonly name: string; readonly versions: readonly string[] }): Fields {
  const listed = all.map((version) => ({ groupVersion: `${name}/${version}`, version }));
  return { name, versions: listed, preferredVersion: listed[0] };
}

interface GroupVersionOptions extends DiscoveryOptions {
  readonly group: string;
  readonly version: string;
}

function resourceList(request: Request, { registry, group, version }: GroupVersionOptions): Response | undefined {
  const rows = registry.rows().filter((row) => row.group === group && row.version === version);
  if (rows.length === 0) return undefined;
  const list = {
    kind: "APIResourceList",
    ...(group === "" ? {} : { apiVersion: "v1" }),
    groupVersion: apiVersionOf({ group, version }),
    resources: rows.flatMap(resourcesOf),
  };
  return answerObject(request, list, acceptedIn(request, rows[0]!.custom ? "handler" : "route"));
}

function resourcesOf(row: KindRow): Fields[] {
  const own: Fields = {
    name: row.plural,
    singularName: row.singular,
    namespaced: row.namespaced,
    kind: row.kind,
    verbs: row.verbs,
    ...(row.shortNames.length === 0 ? {} : { shortNames: row.shortNames }),
    ...(row.categories.length === 0 ? {} : { categories: row.categories }),
    ...(row.storageVersionHash === "" ? {} : { storageVersionHash: row.storageVersionHash }),
  };
  const parts = row.subresources.map(({ name, responseKind, verbs }) => {
    const isOwn = responseKind.group === row.group && responseKind.version === row.version;
    const foreign = isOwn ? {} : { group: responseKind.group, version: responseKind.version };
    return {
      name: `${row.plural}/${name}`,
      singularName: "",
      namespaced: row.namespaced,
      ...foreign,
      kind: responseKind.kind,
      verbs,
    };
  });
  return [own, ...parts].toSorted((a, b) => (row.custom ? 0 : String(a["name"]) < String(b["name"]) ? -1 : 1));
}

interface AggregatedOptions extends DiscoveryOptions {
  readonly core: boolean;
}

function aggregated(request: Request, { registry, core }: AggregatedOptions): Response | undefined {
  const { form, formVersion, media } = acceptedIn(request, core ? "route" : "handler", ["APIGroupDiscoveryList"]);
  if (form !== "APIGroupDiscoveryList") return undefined;
  const rows = registry.rows();
  const groups = core ? [{ name: "", versions: ["v1"] }] : registry.groups();
  const items = groups.map(({ name, versions: all }) => ({
    metadata: name === "" ? {} : { name },
    versions: all.map((version) => ({
      version,
      resources: rows.filter((row) => row.group === name && row.version === version).map(discoveryOf),
      freshness: "Current",
    })),
  }));
  const list = { kind: "APIGroupDiscoveryList", apiVersion: `apidiscovery.k8s.io/${formVersion}`, metadata: {}, items };
  const etag = `"${createHash("sha512").update(JSON.stringify(items)).digest("hex").toUpperCase()}"`;
  const type = `application/${media === "protobuf" ? "vnd.kubernetes.protobuf" : media};g=apidiscovery.k8s.io;v=${formVersion};as=APIGroupDiscoveryList`;
  const headers = { "content-type": type, etag, vary: "Accept", "cache-control": "public" };
  if (request.headers.get("if-none-match") === etag) return new Response(null, { status: 304, headers });
  return answerObject(request, list, { headers, media });
}

function discoveryOf(row: KindRow): Fields {
  const kindOf = ({ group, version, kind }: { group: string; version: string; kind: string }): Fields =>
    // Built-in kinds omit the group and version that follow from their place.
    !row.custom && group === row.group && version === row.version
      ? { group: "", version: "", kind }
      : { group, version, kind };
  return {
    resource: row.plural,
    responseKind: kindOf(row),
    scope: row.namespaced ? "Namespaced" : "Cluster",
    singularResource: row.singular,
    verbs: row.verbs,
    ...(row.shortNames.length === 0 ? {} : { shortNames: row.shortNames }),
    ...(row.categories.length === 0 ? {} : { categories: row.categories }),
    ...(row.subresources.length === 0
      ? {}
      : {
          subresources: row.subresources.map(({ name, responseKind, verbs }) => ({
            subresource: name,
            responseKind: kindOf(responseKind),
            verbs,
          })),
        }),
  };
}
