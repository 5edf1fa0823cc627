/** Serves OpenAPI: the stored documents of the built-in kinds, and a generated one for each group and version of custom kinds. */
import { createHash } from "node:crypto";
import { gzipSync } from "node:zlib";
import { writeJson } from "../numbers.ts";
import type { Fields } from "../hooks.ts";
import { openApiV2, openApiV2Protobuf, openApiV3, openApiV3Hash, openApiV3Paths } from "../tables/tables.ts";
import { specOf } from "../registry/custom-rows.ts";
import { definitionsName, type KindRegistry } from "../registry/kind-registry.ts";
import { preferred } from "../request/accept.ts";
import { type CustomKind, customDocument } from "./custom-openapi.ts";
import { withCustomKinds, withCustomKindsProtobuf } from "./openapi-v2.ts";
import type { Storage } from "../storage/storage.ts";

interface Parts {
  readonly registry: KindRegistry;
  readonly storage: Storage;
}

const hashes = new WeakMap<Uint8Array, string>();

const types = {
  v2: "application/com.github.proto-openapi.spec.v2.v1.0+protobuf",
  v3: "application/com.github.proto-openapi.spec.v3.v1.0+protobuf",
};

/** Serves `/openapi/…` for any method; `undefined` for any other path. */
export function openApi(request: Request, path: string, parts: Parts): Response | undefined {
  if (path === "/openapi/v2") return version2(request, parts);
  // The handler of the index sets no content type, so Go's server detects one from the content.
  if (path === "/openapi/v3") {
    const headers = { "content-type": "text/plain; charset=utf-8" };
    return document(request, Buffer.from(JSON.stringify(index(parts))), { headers });
  }
  if (!path.startsWith("/openapi/v3/")) return undefined;
  return version3(request, path.slice("/openapi/v3/".length), parts);
}

function version2(request: Request, parts: Parts): Response {
  const form = formOf(request, types.v2);
  if (form === undefined) return empty(406);
  const custom = customKinds(parts);
  const isPlain = custom.length === 0;
  if (form === "json") {
    const json = openApiV2();
    return document(request, isPlain ? json : withCustomKinds(json, custom), { gzip: true });
  }
  const protobuf = openApiV2Protobuf();
  const whole = isPlain ? protobuf : withCustomKindsProtobuf(protobuf, custom);
  return document(request, whole, { headers: { "content-type": types.v2 }, gzip: true });
}

function version3(request: Request, name: string, parts: Parts): Response {
  const form = formOf(request, types.v3);
  const json = openApiV3(name) ?? customJson(name, parts);
  if (json === undefined) return empty(404);
  // A client that names no media type gets no error message.
  if (!namesType(request)) return new Response(null, { headers: { "cache-control": "no-cache, private" } });
  if (form === undefined) return empty(406);
  const hash = openApiV3Hash(name) ?? hashOf(json);
  const requested = new URL(request.url).searchParams.get("hash");
  if (requested !== null && requested !== "" && requested !== hash) {
    const location = `/openapi/v3/${name}?hash=${hash}`;
    return new Response(null, {
      status: 301,
      headers: { location, "content-type": "application/json", "cache-control": "no-cache, private" },
    });
  }
  const year = 365 * 24 * 60 * 60 * 1000;
  const lasting = { "cache-control": "public, immutable", expires: new Date(Date.now() + year).toUTCString() };
  const headers = { etag: `"${hash}"`, vary: "Accept", ...(requested ? lasting : {}) };
  return document(request, json, { headers });
}

interface DocumentOptions {
  readonly headers?: Readonly<Record<string, string>>;
  /** Whether the response may be compressed, if the client accepts that. @default false */
  readonly gzip?: boolean;
}

function document(request: Request, body: Uint8Array, { headers = {}, gzip = false }: DocumentOptions): Response {
  const etag = headers["etag"] ?? `"${hashOf(body)}"`;
  const all: Record<string, string> = {
    "content-type": "application/json",
    "cache-control": "no-cache, private",
    etag,
    ...headers,
  };
  if ([etag, "*"].includes(request.headers.get("if-none-match") ?? "") && ["GET", "HEAD"].includes(request.method)) {
    const { "content-type": _, ...rest } = all;
    return new Response(null, { status: 304, headers: rest });
  }
  if (!gzip || !(request.headers.get("accept-encoding") ?? "").includes("gzip"))
    return new Response(body as Uint8Array<ArrayBuffer>, { headers: all });
  all["content-encoding"] = "gzip";
  all["vary"] = "Accept, Accept-Encoding";
  return new Response(gzipSync(body, { level: 1 }), { headers: all });
}

function empty(status: number): Response {
  return new Response(null, { status, headers: { "cache-control": "no-cache, private", vary: "Accept" } });
}

/** Returns the client's preferred one of the two forms; `undefined` when it accepts neither. */
function formOf(request: Request, protobuf: string): "json" | "protobuf" | undefined {
  const older = protobuf.replace(/(v\d)\.v1\.0/, "$1@v1.0");
  for (const clause of preferred((request.headers.get("accept") || "*/*").split(","))) {
    const type = clause.split(";", 1)[0]!.trim();
    if (type === "*/*" || type === "application/*" || type === "application/json") return "json";
    if (type === protobuf || type === older) return "protobuf";
  }
  return undefined;
}

/** Whether the client accepts anything that has the form of a media type. */
function namesType(request: Request): boolean {
  return (request.headers.get("accept") || "*/*").split(",").some((clause) => {
    const type = clause.split(";", 1)[0]!.trim();
    return type === "*" || /^[^/]+\/[^/]+$/.test(type);
  });
}

const customBytes = new WeakMap<
  KindRegistry,
  { readonly generation: number; readonly known: Map<string, Uint8Array> }
>();

/** Generates the document once, until the definitions change. */
function customJson(name: string, parts: Parts): Uint8Array | undefined {
  const { registry } = parts;
  let cache = customBytes.get(registry);
  if (cache?.generation !== registry.generation) {
    cache = { generation: registry.generation, known: new Map() };
    customBytes.set(registry, cache);
  }
  const known = cache.known.get(name);
  if (known !== undefined) return known;
  const kinds = customKinds(parts, name);
  if (kinds.length === 0) return undefined;
  const bytes = Buffer.from(writeJson(customDocument(kinds)));
  cache.known.set(name, bytes);
  return bytes;
}

function hashOf(document: Uint8Array): string {
  let hash = hashes.get(document);
  if (hash === undefined) {
    hash = createHash("sha512").update(document).digest("hex").toUpperCase();
    hashes.set(document, hash);
  }
  return hash;
}

function index(parts: Parts): Fields {
  const { registry } = parts;
  const paths: Record<string, Fields> = {};
  for (const name of openApiV3Paths())
    paths[name] = { serverRelativeURL: `/openapi/v3/${name}?hash=${openApiV3Hash(name)}` };
  for (const { group, version, custom } of registry.rows()) {
    const name = `apis/${group}/${version}`;
    if (!custom || Object.hasOwn(paths, name)) continue;
    const json = customJson(name, parts);
    if (json !== undefined) paths[name] = { serverRelativeURL: `/openapi/v3/${name}?hash=${hashOf(json)}` };
  }
  return { paths };
}

/** Returns the kinds of definitions that are served, of one group and version or all. */
function customKinds({ registry, storage }: Parts, name?: string): CustomKind[] {
  const [, group, version] = name?.split("/") ?? [];
  return registry.rows().flatMap((row) => {
    if (!row.custom || (name !== undefined && (row.group !== group || row.version !== version))) return [];
    const definition = storage.collection(definitionsName).get(`${row.plural}.${row.group}`)?.object;
    if (definition === undefined) return [];
    const own = specOf(definition).versions.find(({ name: each }) => each === row.version);
    return [{ row, schema: own?.schema?.openAPIV3Schema ?? { type: "object" } }];
  });
}
