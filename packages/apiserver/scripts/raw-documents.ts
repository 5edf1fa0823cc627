/** Reads a server's discovery and OpenAPI documents as the bytes that it sends, so that another server can send the same. */
import { KubeConfig } from "@kubernetes/client-node";

export interface RawDocuments {
  /** The documents by path: `/api`, `/apis`, `/api/v1`, `/apis/apps/v1`, … */
  readonly discovery: ReadonlyMap<string, unknown>;
  /** The documents by name: `v3/apis/apps/v1`, `v2.json`, `v2.pb`. */
  readonly openApi: ReadonlyMap<string, Uint8Array>;
  /** The hash of each document in the index of OpenAPI v3, by name. */
  readonly hashes: ReadonlyMap<string, string>;
}

interface Groups {
  readonly groups: readonly { readonly versions: readonly { readonly groupVersion: string }[] }[];
}

const protobuf = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf";

export async function rawDocuments(kubeconfig: string): Promise<RawDocuments> {
  const get = await connect(kubeconfig);
  const json = async (path: string): Promise<unknown> => JSON.parse(new TextDecoder().decode(await get(path)));
  const groups = (await json("/apis")) as Groups;
  const discovery = new Map<string, unknown>([["/apis", groups]]);
  for (const { versions } of groups.groups) {
    for (const { groupVersion } of versions) {
      discovery.set(`/apis/${groupVersion}`, await json(`/apis/${groupVersion}`));
    }
  }
  discovery.set("/api/v1", await json("/api/v1"));
  const index = (await json("/openapi/v3")) as { paths: Record<string, { serverRelativeURL: string }> };
  const openApi = new Map<string, Uint8Array>();
  const hashes = new Map<string, string>();
  for (const [path, { serverRelativeURL }] of Object.entries(index.paths).toSorted(byKey)) {
    openApi.set(`v3/${path}`, await get(serverRelativeURL));
    hashes.set(`v3/${path}`, new URL(serverRelativeURL, "https://server").searchParams.get("hash") ?? "");
  }
  openApi.set("v2.json", await get("/openapi/v2"));
  openApi.set("v2.pb", await get("/openapi/v2", protobuf));
  return { discovery, openApi, hashes };
}

function byKey([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number {
  return a < b ? -1 : 1;
}

async function connect(kubeconfig: string): Promise<(path: string, accept?: string) => Promise<Uint8Array>> {
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
    return new Uint8Array(await response.arrayBuffer());
  };
}
