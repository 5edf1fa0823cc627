/** OpenAPI: the documents of the built-in kinds as they are, and one made for each group and version of custom kinds. */
import { createHash } from "node:crypto";
import type { Fields, KindRow, KubeObject } from "../hooks.ts";
import type { Schemas } from "../machinery.ts";
import { specOf } from "../registry/custom-rows.ts";
import { definitionsName, type KindRegistry } from "../registry/kind-registry.ts";
import { answerJson, answerObject } from "../request/answer.ts";
import { asVersion2, type Definitions, withDefinitions, withDefinitionsProtobuf } from "./openapi-v2.ts";
import type { Storage } from "../storage/storage.ts";

interface Around {
  readonly registry: KindRegistry;
  readonly storage: Storage;
  readonly schemas: Schemas;
}

const hashes = new WeakMap<Uint8Array, string>();

/** Answers `/openapi/…`; `undefined` for any other path. */
export function openApi(request: Request, path: string, around: Around): Response | undefined {
  const { schemas } = around;
  if (path === "/openapi/v2") {
    const accept = request.headers.get("accept") ?? "";
    const custom = customDefinitions(around);
    const isPlain = Object.keys(custom).length === 0;
    if (!accept.includes("protobuf")) {
      const document = schemas.openApiV2();
      return answerJson(request, isPlain ? document : withDefinitions(document, custom));
    }
    const type = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf";
    const document = schemas.openApiV2Protobuf();
    const whole = isPlain ? document : withDefinitionsProtobuf(document, custom);
    return new Response(whole as Uint8Array<ArrayBuffer>, { headers: { "content-type": type } });
  }
  if (path === "/openapi/v3") return answerObject(request, index(around));
  if (!path.startsWith("/openapi/v3/")) return undefined;
  const name = path.slice("/openapi/v3/".length);
  const document = schemas.openApiV3(name);
  if (document !== undefined) return answerJson(request, document, { headers: etag(document) });
  const custom = customDocument(name, around);
  return custom === undefined ? new Response(null, { status: 404 }) : answerObject(request, custom);
}

function etag(document: Uint8Array): Record<string, string> {
  return { etag: `"${hashOf(document)}"` };
}

function hashOf(document: Uint8Array): string {
  let hash = hashes.get(document);
  if (hash === undefined) {
    hash = createHash("sha512").update(document).digest("hex").toUpperCase();
    hashes.set(document, hash);
  }
  return hash;
}

function index({ schemas, registry }: Around): Fields {
  const paths: Record<string, Fields> = {};
  for (const name of schemas.openApiV3Paths())
    paths[name] = { serverRelativeURL: `/openapi/v3/${name}?hash=${schemas.openApiV3Hash(name)}` };
  for (const { group, version, custom } of registry.rows()) {
    if (!custom) continue;
    paths[`apis/${group}`] ??= { serverRelativeURL: `/openapi/v3/apis/${group}?hash=${registry.generation}` };
    const name = `apis/${group}/${version}`;
    paths[name] ??= { serverRelativeURL: `/openapi/v3/${name}?hash=${registry.generation}` };
  }
  return { paths };
}

function customDocument(name: string, { registry, storage }: Around): Fields | undefined {
  const [, group, version] = name.split("/");
  const rows = registry.rows().filter((row) => row.custom && row.group === group && row.version === version);
  if (rows.length === 0) return undefined;
  const schemas: Record<string, Fields> = {};
  const paths: Record<string, Fields> = {};
  for (const row of rows) {
    const definition = storage.collection(definitionsName).get(`${row.plural}.${row.group}`)?.object;
    if (definition === undefined) continue;
    schemas[schemaName(row)] = schemaOf(definition, row);
    Object.assign(paths, pathsOf(row));
  }
  return {
    openapi: "3.0.0",
    info: { title: "Kubernetes CRD Swagger", version: "v0.1.0" },
    paths,
    components: { schemas },
  };
}

/** Of all custom kinds, as v2 has them. */
function customDefinitions({ registry, storage }: Around): Definitions {
  const definitions: Record<string, Fields> = {};
  for (const row of registry.rows()) {
    if (!row.custom) continue;
    const definition = storage.collection(definitionsName).get(`${row.plural}.${row.group}`)?.object;
    if (definition === undefined) continue;
    const schema = asVersion2(schemaOf(definition, row));
    const metadata = {
      $ref: "#/definitions/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta",
      description: metadataText,
    };
    definitions[schemaName(row)] =
      schema["properties"] === undefined
        ? schema
        : { ...schema, properties: { ...(schema["properties"] as Fields), metadata } };
  }
  return definitions;
}

/** `io.example.zoo.v1.Tiger` for `zoo.example.io`. */
function schemaName({ group, version, kind }: KindRow): string {
  return `${group.split(".").toReversed().join(".")}.${version}.${kind}`;
}

function schemaOf(definition: KubeObject, row: KindRow): Fields {
  const version = specOf(definition).versions.find(({ name }) => name === row.version);
  const own = version?.schema?.openAPIV3Schema ?? { type: "object" };
  const { group, version: name, kind } = row;
  return {
    ...own,
    properties: {
      ...(own["properties"] as Fields | undefined),
      apiVersion: { type: "string", description: versionText },
      kind: { type: "string", description: kindText },
      metadata: { type: "object", description: metadataText },
    },
    "x-kubernetes-group-version-kind": [{ group, version: name, kind }],
  };
}

const metadataText = "Standard object's metadata.";
const versionText =
  "APIVersion defines the versioned schema of this representation of an object. Servers should convert recognized schemas to the latest internal value, and may reject unrecognized values. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#resources";
const kindText =
  "Kind is a string value representing the REST resource this object represents. Servers may infer this from the endpoint the client submits requests to. Cannot be updated. In CamelCase. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#types-kinds";

function pathsOf(row: KindRow): Record<string, Fields> {
  const { group, version, kind, plural, namespaced } = row;
  const base = `/apis/${group}/${version}/${namespaced ? "namespaces/{namespace}/" : ""}${plural}`;
  const operation = (action: string): Fields => ({
    "x-kubernetes-action": action,
    "x-kubernetes-group-version-kind": { group, version, kind },
    responses: {
      200: {
        description: "OK",
        content: { "application/json": { schema: { $ref: `#/components/schemas/${schemaName(row)}` } } },
      },
    },
  });
  return {
    [base]: { get: operation("list"), post: operation("post") },
    [`${base}/{name}`]: {
      get: operation("get"),
      put: operation("put"),
      patch: operation("patch"),
      delete: operation("delete"),
    },
  };
}
