/** The edges of the protocol: paths, methods, media types, names, options, impersonation. */
import type { Case } from "../case.ts";
import type { Session } from "../session.ts";

const json = "application/json-patch+json";
const merge = "application/merge-patch+json";
const strategic = "application/strategic-merge-patch+json";
const apply = "application/apply-patch+yaml";

function configMap(name: string, metadata: object = {}): object {
  return { apiVersion: "v1", kind: "ConfigMap", metadata: { name, ...metadata }, data: { a: "1" } };
}

/** A namespace of the case's own; the path of its config maps. */
async function configMaps(session: Session): Promise<string> {
  const namespace = { apiVersion: "v1", kind: "Namespace", metadata: { name: session.slug } };
  await session.quietly("POST", "/api/v1/namespaces", namespace);
  return `/api/v1/namespaces/${session.slug}/configmaps`;
}

function asMeta(form: string, version = "v1"): string {
  return `application/json;as=${form};v=${version};g=meta.k8s.io`;
}

const accepts = [
  "application/yaml",
  "text/html",
  "*/*",
  "application/*",
  "text/*, application/json;q=0.5",
  asMeta("Table"),
  asMeta("Table", "v9"),
  asMeta("Foo"),
  asMeta("PartialObjectMetadata"),
  asMeta("PartialObjectMetadataList"),
  "application/xml",
  "application/json;stream=watch",
  "garbage",
];

const deleteBodies = [
  "{",
  "[]",
  "1",
  "null",
  { kind: "Foo", apiVersion: "v1" },
  { kind: "Foo" },
  { kind: 1 },
  { dryRun: "All" },
  { dryRun: [1] },
  { preconditions: { uid: 1 } },
  { preconditions: [] },
  { gracePeriodSeconds: 1.5 },
  { gracePeriodSeconds: "1" },
  { orphanDependents: "x" },
  { propagationPolicy: "Nope" },
];

const patches: readonly (readonly [type: string, body: unknown])[] = [
  ...[json, merge, strategic].flatMap((type) =>
    ["{", "", "[]", "{}", "null", "1"].map((body) => [type, body] as const),
  ),
  ...[merge, strategic].flatMap((type) =>
    [
      { metadata: { name: "other" } },
      { metadata: { namespace: "other" } },
      { metadata: null },
      { metadata: { uid: "x" } },
      { metadata: { deletionTimestamp: "2020-01-01T00:00:00Z" } },
      { metadata: { deletionGracePeriodSeconds: 7 } },
      { metadata: { generation: 7, creationTimestamp: "2020-01-01T00:00:00Z", selfLink: "/x" } },
      { metadata: { resourceVersion: "1" } },
      { metadata: { resourceVersion: "abc" } },
      { kind: "Pod" },
      { kind: "" },
      { kind: null },
      { apiVersion: "v2" },
      { apiVersion: null },
    ].map((body) => [type, body] as const),
  ),
  [strategic, { $patch: "delete" }],
  [strategic, { $retainKeys: ["x"] }],
  [json, [{ op: "replace", path: "/kind", value: "Pod" }]],
  [apply, { apiVersion: "v1", kind: "Pod", metadata: { name: "one" } }],
  [apply, { apiVersion: "apps/v1", kind: "Deployment", metadata: { name: "one" } }],
  [apply, configMap("one", { uid: "x" })],
];

const impersonations: readonly Readonly<Record<string, string>>[] = [
  { "impersonate-user": "jane", "impersonate-group": "g1", "impersonate-extra-a%2fb": "y" },
  { "impersonate-user": "jane", "impersonate-uid": "5" },
  { "impersonate-user": "system:serviceaccount:default:x" },
  { "impersonate-user": "system:serviceaccount:default:x", "impersonate-group": "g" },
  { "impersonate-group": "g1" },
  { "impersonate-uid": "5" },
  { "impersonate-extra-x": "5" },
];

export const protocol: readonly Case[] = [
  {
    name: "protocol paths and methods",
    run: async (session) => {
      const paths = ["/api", "/api/v1", "/apis", "/apis/apps", "/apis/apps/v1", "/version", "/healthz", "/livez/etcd"];
      const resources = ["/api/v1/pods", "/api/v1/namespaces/default/pods/x/status", "/api/v1/bindings"];
      for (const path of [...paths, ...resources]) {
        for (const method of ["HEAD", "OPTIONS", "PUT", "POST", "PATCH", "DELETE"]) {
          const body = ["PUT", "POST"].includes(method) ? { body: {} } : method === "PATCH" ? patchOf(merge, {}) : {};
          await session.send(`${method} ${path}`, method, path, body);
        }
      }
      const odd = [
        "/api/v2",
        "/apis/apps/v9",
        "/apis/foo",
        "/api/v1/foo",
        "/api/v1//pods",
        "/api/v1/namespaces//pods",
        "/api/v1/namespaces/default/pods/",
        "/api/v1/namespaces/default/pods/x/foo",
        "/api/v1/bindings",
        "/healthz/",
        "/livez/nope",
        "/livez?verbose",
        "/readyz?verbose&exclude=etcd&exclude=foo",
        "/healthz/poststarthook/crd-informer-synced",
      ];
      for (const path of odd) await session.send(`GET ${path}`, "GET", path);
    },
  },
  {
    name: "protocol media types",
    run: async (session) => {
      const path = await configMaps(session);
      await session.quietly("POST", path, configMap("one"));
      for (const accept of accepts) {
        for (const at of [`${path}/one`, `${path}/none`, path, "/apis", "/api", "/version"]) {
          await session.send(`GET ${at} as ${accept}`, "GET", at, { headers: { accept } });
        }
      }
      for (const include of ["None", "Object", "Foo"]) {
        const headers = { accept: asMeta("Table") };
        await session.send(`include ${include}`, "GET", `${path}?includeObject=${include}`, { headers });
      }
      const types = [
        "text/plain",
        "application/yaml",
        "application/vnd.kubernetes.protobuf",
        "application/cbor",
        apply,
      ];
      for (const type of types) {
        const call = { headers: { "content-type": type }, body: configMap("two") };
        await session.send(`POST ${type}`, "POST", `${path}?dryRun=All`, call);
      }
    },
  },
  {
    name: "protocol names and system fields",
    run: async (session) => {
      const path = await configMaps(session);
      const set = { uid: "x", generation: 5, selfLink: "/x", deletionTimestamp: "2020-01-01T00:00:00Z" };
      await session.send("create with system fields", "POST", path, { body: configMap("one", set) });
      for (const metadata of [
        undefined,
        { name: "two" },
        { name: "one", namespace: "other" },
        { name: "one", uid: "abc" },
        { name: "one", deletionTimestamp: "2020-01-01T00:00:00Z" },
        { name: "one", deletionGracePeriodSeconds: 7 },
        { name: "one", generateName: "x", generation: 9 },
      ]) {
        const body = { apiVersion: "v1", kind: "ConfigMap", ...(metadata && { metadata }), data: { a: "1" } };
        await session.send(`PUT ${JSON.stringify(metadata)}`, "PUT", `${path}/one`, { body });
      }
      await session.send("PUT without a name to what is absent", "PUT", `${path}/none`, { body: {} });
      const big = { ...configMap("big"), data: { a: "x".repeat(1_100_000) } };
      await session.send("too much data", "POST", path, { body: big });
    },
  },
  {
    name: "protocol patches",
    run: async (session) => {
      const path = await configMaps(session);
      await session.quietly("POST", path, configMap("one"));
      for (const [type, body] of patches) {
        const query = type === apply ? "?fieldManager=m" : "";
        await session.send(`${type} ${JSON.stringify(body)}`, "PATCH", `${path}/one${query}`, patchOf(type, body));
      }
    },
  },
  {
    name: "protocol delete options",
    run: async (session) => {
      const path = await configMaps(session);
      for (const body of deleteBodies) {
        await session.quietly("POST", path, configMap("one"));
        await session.send(`DELETE with ${JSON.stringify(body)}`, "DELETE", `${path}/one`, { body });
      }
    },
  },
  {
    name: "protocol impersonation",
    run: async (session) => {
      const path = "/apis/authentication.k8s.io/v1/selfsubjectreviews";
      for (const headers of impersonations)
        await session.send(JSON.stringify(headers), "POST", path, { headers, body: {} });
    },
  },
];

function patchOf(type: string, body: unknown): { headers: Record<string, string>; body: unknown } {
  return { headers: { "content-type": type }, body };
}
