/** The input of the generator: a server's version, aggregated discovery and OpenAPI v3 documents. */
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { KubeConfig } from "@kubernetes/client-node";

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

/** What a server says about itself. */
export interface ServerDocuments {
  readonly version: { readonly major: string; readonly minor: string };
  readonly discovery: DiscoveryList;
  /** Schemas by name, such as `io.k8s.api.apps.v1.Deployment`. */
  readonly schemas: ReadonlyMap<string, Schema>;
}

type Fetch = (path: string, accept?: string) => Promise<unknown>;

const aggregated = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

/** Only stable versions: those that a server serves without flags, and that do not change between releases. */
const stableDocument = /^(api|apis\/[^/]+)\/v\d+$/;

/** Reads the documents of the server in a kubeconfig's current context. */
export async function documentsOfServer(kubeconfig: string): Promise<Map<string, unknown>> {
  const fetchJson = await connect(kubeconfig);
  const documents = new Map<string, unknown>();
  documents.set("version", await fetchJson("/version"));
  documents.set("discovery-api", await fetchJson("/api", aggregated));
  documents.set("discovery-apis", await fetchJson("/apis", aggregated));
  const index = (await fetchJson("/openapi/v3")) as { paths: Record<string, { serverRelativeURL: string }> };
  const paths = Object.keys(index.paths).filter((path) => stableDocument.test(path));
  await Promise.all(
    paths.map(async (path) => documents.set(`openapi/${path}`, await fetchJson(index.paths[path]!.serverRelativeURL))),
  );
  return documents;
}

async function connect(kubeconfig: string): Promise<Fetch> {
  const config = new KubeConfig();
  config.loadFromFile(kubeconfig);
  const cluster = config.getCurrentCluster();
  if (!cluster) throw new Error(`${kubeconfig} has no current context: name one with kubectl config use-context`);
  const options: { ca?: string; cert?: string; key?: string; headers?: Record<string, string> } = {};
  await config.applyToHTTPSOptions(options);
  const tls = { ca: options.ca, cert: options.cert, key: options.key, rejectUnauthorized: !cluster.skipTLSVerify };
  return async (path, accept = "application/json") => {
    const response = await fetch(cluster.server + path, { tls, headers: { ...options.headers, accept } });
    if (!response.ok) throw new Error(`${cluster.server}${path} answered ${response.status}`);
    return response.json();
  };
}

/** Saves documents so that {@link documentsOfFolder} finds them again. */
export async function saveDocuments(documents: ReadonlyMap<string, unknown>, folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  for (const [name, document] of documents) {
    await writeFile(join(folder, `${name.replaceAll("/", "__")}.json`), JSON.stringify(document));
  }
}

/** Reads the documents that {@link saveDocuments} wrote. */
export async function documentsOfFolder(folder: string): Promise<Map<string, unknown>> {
  const documents = new Map<string, unknown>();
  for (const file of (await readdir(folder)).filter((name) => name.endsWith(".json"))) {
    const name = file.slice(0, -".json".length).replaceAll("__", "/");
    documents.set(name, JSON.parse(await readFile(join(folder, file), "utf8")));
  }
  return documents;
}

/** Merges the documents; a schema in several documents is the same in all of them. */
export function mergeDocuments(documents: ReadonlyMap<string, unknown>): ServerDocuments {
  const part = (name: string): unknown => {
    if (!documents.has(name)) throw new Error(`the document ${name} is missing: save the documents anew with --save`);
    return documents.get(name);
  };
  const schemas = new Map<string, Schema>();
  for (const name of [...documents.keys()].filter((key) => key.startsWith("openapi/")).toSorted()) {
    for (const [id, schema] of Object.entries((documents.get(name) as OpenApiDocument).components?.schemas ?? {})) {
      if (!schemas.has(id)) schemas.set(id, schema);
    }
  }
  const core = part("discovery-api") as DiscoveryList;
  const groups = part("discovery-apis") as DiscoveryList;
  return {
    version: part("version") as ServerDocuments["version"],
    discovery: { items: [...core.items, ...groups.items] },
    schemas,
  };
}
