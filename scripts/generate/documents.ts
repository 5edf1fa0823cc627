/** The input of the generator: a server's version, aggregated discovery and OpenAPI v3 documents. */
import { createApiServer } from "binnacle-apiserver";

export interface Schema {
  readonly description?: string;
  readonly type?: string;
  readonly format?: string;
  readonly default?: unknown;
  readonly enum?: readonly string[];
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema;
  readonly items?: Schema;
  readonly $ref?: string;
  readonly allOf?: readonly Schema[];
  readonly "x-kubernetes-group-version-kind"?: readonly GroupVersionKind[];
  readonly "x-kubernetes-list-type"?: "atomic" | "set" | "map";
  readonly "x-kubernetes-list-map-keys"?: readonly string[];
  readonly "x-kubernetes-map-type"?: "atomic" | "granular";
}

export interface GroupVersionKind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

export interface DiscoveredResource {
  readonly resource: string;
  readonly responseKind: GroupVersionKind;
  readonly scope: "Namespaced" | "Cluster";
  readonly verbs: readonly string[];
  readonly subresources?: readonly { readonly subresource: string; readonly responseKind: GroupVersionKind }[];
}

/** An `APIGroupDiscoveryList`; the core group has no name, and the preferred version comes first. */
interface DiscoveryList {
  readonly items: readonly {
    readonly metadata: { readonly name?: string };
    readonly versions: readonly { readonly version: string; readonly resources?: readonly DiscoveredResource[] }[];
  }[];
}

interface OpenApiDocument {
  readonly components?: { readonly schemas?: Readonly<Record<string, Schema>> };
}

/** Version, kinds and schemas of a server. */
export interface ServerDocuments {
  readonly version: { readonly major: string; readonly minor: string };
  readonly discovery: DiscoveryList;
  /** Schemas by name, such as `io.k8s.api.apps.v1.Deployment`. */
  readonly schemas: ReadonlyMap<string, Schema>;
}

const aggregated = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

/** Only stable versions: those that a server serves without flags, and that do not change between releases. */
const stableDocument = /^(api|apis\/[^/]+)\/v\d+$/;

/** Reads the documents of the embedded API server, which has them from a kube-apiserver. */
export async function serverDocuments(): Promise<ServerDocuments> {
  const server = await createApiServer();
  const read = async (path: string, accept = "application/json"): Promise<unknown> =>
    await (await server.fetch(new Request(`http://server${path}`, { headers: { accept } }))).json();
  try {
    const index = (await read("/openapi/v3")) as { paths: Record<string, { serverRelativeURL: string }> };
    const schemas = new Map<string, Schema>();
    // A schema in several documents is the same in all of them.
    for (const [name, { serverRelativeURL }] of Object.entries(index.paths)) {
      if (!stableDocument.test(name)) continue;
      const { components } = (await read(serverRelativeURL)) as OpenApiDocument;
      for (const [id, schema] of Object.entries(components?.schemas ?? {})) schemas.set(id, schema);
    }
    const [core, groups] = (await Promise.all([
      read("/api", aggregated),
      read("/apis", aggregated),
    ])) as DiscoveryList[];
    return {
      version: (await read("/version")) as ServerDocuments["version"],
      discovery: { items: [...core!.items, ...groups!.items] },
      schemas,
    };
  } finally {
    await server.stop();
  }
}
