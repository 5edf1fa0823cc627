/** The built-in kinds: discovery says what is served and how, the schemas describe it. */
import type { DiscoveredResource, GroupVersionKind, Schema, ServerDocuments } from "./documents.ts";
import { schemaName } from "./names.ts";

export interface BuiltinKind {
  /** The name of the schema, such as `io.k8s.api.apps.v1.Deployment`. */
  readonly id: string;
  readonly apiVersion: string;
  readonly kind: string;
  /**
   * How it is served; `undefined` for a kind that only a subresource serves, such as `Scale`: it has types but no
   * handle.
   */
  readonly served:
    | { readonly scope: "Namespaced" | "Cluster"; readonly plural: string; readonly subresources: readonly string[] }
    | undefined;
  /** Whether objects of this kind are stored under a name; reviews and bindings are not. */
  readonly named: boolean;
}

export interface BuiltinKinds {
  /** The kinds by schema name. */
  readonly kinds: ReadonlyMap<string, BuiltinKind>;
  /** A file's stable versions, the preferred one first. */
  readonly versions: ReadonlyMap<string, readonly string[]>;
}

export function builtinKinds({ discovery, schemas }: ServerDocuments): BuiltinKinds {
  const ids = idsByKind(schemas);
  const kinds = new Map<string, BuiltinKind>();
  const versions = new Map<string, string[]>();
  const atSubresources: GroupVersionKind[] = [];
  for (const group of discovery.items) {
    for (const { version, resources } of group.versions) {
      if (!/^v\d+$/.test(version)) continue;
      for (const resource of resources ?? []) {
        const gvk = { group: group.metadata.name ?? "", version, kind: resource.responseKind.kind };
        const id = ids.get(kindKey(gvk));
        if (!id) continue;
        kinds.set(id, served(id, gvk, resource));
        const order = versions.getOrInsertComputed(schemaName(id)!.file, () => []);
        if (!order.includes(version)) order.push(version);
        atSubresources.push(...(resource.subresources ?? []).map((subresource) => subresource.responseKind));
      }
    }
  }
  for (const gvk of atSubresources) {
    const id = ids.get(kindKey(gvk));
    if (!id || kinds.has(id)) continue;
    kinds.set(id, { id, apiVersion: apiVersion(gvk), kind: gvk.kind, served: undefined, named: true });
  }
  return { kinds, versions };
}

function served(id: string, gvk: GroupVersionKind, resource: DiscoveredResource): BuiltinKind {
  return {
    id,
    apiVersion: apiVersion(gvk),
    kind: gvk.kind,
    served: {
      scope: resource.scope,
      plural: resource.resource,
      subresources: (resource.subresources ?? []).map((subresource) => subresource.subresource).toSorted(),
    },
    named: resource.verbs.includes("get"),
  };
}

/** Schemas of lists have a kind too; of the others each kind has one, except shared ones such as DeleteOptions. */
function idsByKind(schemas: ReadonlyMap<string, Schema>): Map<string, string> {
  const ids = new Map<string, string>();
  for (const [id, schema] of schemas) {
    const gvks = schema["x-kubernetes-group-version-kind"] ?? [];
    if (gvks.length === 1 && schemaName(id)?.version) ids.set(kindKey(gvks[0]!), id);
  }
  return ids;
}

function kindKey({ group, version, kind }: GroupVersionKind): string {
  return `${group}/${version}/${kind}`;
}

function apiVersion({ group, version }: GroupVersionKind): string {
  return group === "" ? version : `${group}/${version}`;
}
