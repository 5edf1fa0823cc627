/** A server's discovery and OpenAPI documents as the bytes that it sends, so that another server can send the same. */

/** Reads a document of a server. @param accept the media type. @default "application/json" */
export type Read = (path: string, accept?: string) => Promise<Uint8Array>;

export interface Documents {
  /** By path: `/api/v1`, `/apis`, `/apis/apps/v1`, … */
  readonly discovery: ReadonlyMap<string, unknown>;
  /** By name: `v3/apis/apps/v1`, `v2.json`, `v2.pb`. */
  readonly openApi: ReadonlyMap<string, Uint8Array>;
  /** The hash of each document in the index of OpenAPI v3, by name. */
  readonly hashes: ReadonlyMap<string, string>;
}

interface Groups {
  readonly groups: readonly { readonly versions: readonly { readonly groupVersion: string }[] }[];
}

export async function readJson(read: Read, path: string, accept?: string): Promise<unknown> {
  return JSON.parse(new TextDecoder().decode(await read(path, accept)));
}

export async function documentsOf(read: Read): Promise<Documents> {
  const groups = (await readJson(read, "/apis")) as Groups;
  const discovery = new Map<string, unknown>([["/apis", groups]]);
  const versions = groups.groups.flatMap((group) => group.versions.map(({ groupVersion }) => `/apis/${groupVersion}`));
  for (const path of ["/api/v1", ...versions]) discovery.set(path, await readJson(read, path));
  const index = (await readJson(read, "/openapi/v3")) as { paths: Record<string, { serverRelativeURL: string }> };
  const openApi = new Map<string, Uint8Array>();
  const hashes = new Map<string, string>();
  for (const [path, { serverRelativeURL }] of Object.entries(index.paths).toSorted(([a], [b]) => (a < b ? -1 : 1))) {
    openApi.set(`v3/${path}`, await read(serverRelativeURL));
    hashes.set(`v3/${path}`, new URL(serverRelativeURL, "https://server").searchParams.get("hash") ?? "");
  }
  openApi.set("v2.json", await read("/openapi/v2"));
  openApi.set("v2.pb", await read("/openapi/v2", "application/com.github.proto-openapi.spec.v2@v1.0+protobuf"));
  return { discovery, openApi, hashes };
}
