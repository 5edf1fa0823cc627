/** Edges of the protocol: paths, methods, media types, names, options, impersonation. */
import type { Case } from "../case.ts";
import { collectionOf, configMap, deployment, gadget, type Kind, objectOf, prepareKinds } from "../kinds.ts";
import { patchTypes, type Session } from "../session.ts";

const { json, merge, strategic, apply } = patchTypes;

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

const bodyTypes = ["text/plain", "application/yaml", "application/vnd.kubernetes.protobuf", "application/cbor", apply];

const bodies = [
  "",
  "{",
  "[]",
  "null",
  "1",
  "{}",
  '{"kind":"Foo"}',
  '{"apiVersion":"v9","kind":"Foo"}',
  '{"metadata":[]}',
];

const deleteQueries = [
  "propagationPolicy=Nope",
  "gracePeriodSeconds=-1",
  "gracePeriodSeconds=x",
  "orphanDependents=true&propagationPolicy=Orphan",
  "orphanDependents=maybe",
  "dryRun=All",
  "dryRun=x",
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
      { kind: "" },
      { kind: null },
      { apiVersion: null },
    ].map((body) => [type, body] as const),
  ),
  [strategic, { $patch: "delete" }],
  [strategic, { $retainKeys: ["x"] }],
  [apply, { apiVersion: "v1", kind: "Pod", metadata: { name: "one" } }],
  [apply, { apiVersion: "apps/v1", kind: "Deployment", metadata: { name: "one" } }],
];

/** Patches of the kind and the version; their refusal quotes the whole object. */
const kindPatches: readonly (readonly [type: string, body: unknown])[] = [
  [merge, { kind: "Pod" }],
  [merge, { apiVersion: "v2" }],
  [strategic, { kind: "Pod" }],
  [strategic, { apiVersion: "v2" }],
  [json, [{ op: "replace", path: "/kind", value: "Pod" }]],
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
    isAlone: true,
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
      for (const path of odd) await session.get(`GET ${path}`, path);
      for (const accept of accepts) {
        for (const path of ["/api", "/apis", "/apis/apps", "/apis/apps/v1", "/version"]) {
          await session.get(`GET ${path} as ${accept}`, path, accept);
        }
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
  ...[configMap, deployment, gadget].flatMap(casesOf),
];

/** Returns the cases of a kind, which are the same for each. */
function casesOf(kind: Kind): Case[] {
  const withName = (name: string, metadata?: object): object => objectOf(kind, { name, ...metadata });
  const prepare = async (session: Session): Promise<string> => {
    await prepareKinds(session);
    return collectionOf(kind, session.slug);
  };
  return [
    {
      name: `protocol media types of a ${kind.name}`,
      run: async (session) => {
        const path = await prepare(session);
        await session.quietly("POST", path, withName("one"));
        for (const accept of accepts) {
          for (const at of [`${path}/one`, `${path}/none`, `${path}?fieldSelector=metadata.name%3Done`]) {
            await session.get(`GET ${at} as ${accept}`, at, accept);
          }
        }
        for (const include of ["None", "Object", "Foo"]) {
          const headers = { accept: asMeta("Table") };
          await session.send(`include ${include}`, "GET", `${path}/one?includeObject=${include}`, { headers });
        }
        for (const type of bodyTypes) {
          const call = { headers: { "content-type": type }, body: withName("two") };
          await session.send(`POST ${type}`, "POST", `${path}?dryRun=All`, call);
        }
        for (const body of bodies) await session.post(`POST ${body}`, path, body);
      },
    },
    {
      name: `protocol names and system fields of a ${kind.name}`,
      run: async (session) => {
        const path = await prepare(session);
        const set = { uid: "x", generation: 5, selfLink: "/x", deletionTimestamp: "2020-01-01T00:00:00Z" };
        await session.post("create with system fields", path, withName("one", set));
        for (const metadata of [
          undefined,
          { name: "two" },
          { name: "one", namespace: "other" },
          { name: "one", uid: "abc" },
          { name: "one", deletionTimestamp: "2020-01-01T00:00:00Z" },
          { name: "one", deletionGracePeriodSeconds: 7 },
          { name: "one", generateName: "x", generation: 9 },
        ]) {
          const { metadata: _, ...rest } = withName("one") as { metadata: object };
          const body = { ...rest, ...(metadata && { metadata }) };
          await session.put(`PUT ${JSON.stringify(metadata)}`, `${path}/one`, body);
        }
        await session.put("PUT without a name to what is absent", `${path}/none`, {});
        await session.put("PUT to what is absent", `${path}/none`, withName("none"));
        await session.post("POST to an object", `${path}/one`, withName("one"));
        await session.delete("DELETE of what is absent", `${path}/none`);
      },
    },
    {
      name: `protocol patches of a ${kind.name}`,
      run: async (session) => {
        const path = await prepare(session);
        await session.quietly("POST", path, withName("one"));
        const ofKind = kind === deployment ? [] : kindPatches;
        for (const [type, body] of [...patches, ...ofKind, [apply, withName("one", { uid: "x" })] as const]) {
          const query = type === apply ? "?fieldManager=m" : "";
          await session.send(`${type} ${JSON.stringify(body)}`, "PATCH", `${path}/one${query}`, patchOf(type, body));
        }
        for (const type of [json, merge, strategic, apply, "application/json", "text/plain"]) {
          await session.send(`${type} to what is absent`, "PATCH", `${path}/none`, patchOf(type, {}));
        }
      },
    },
    {
      name: `protocol delete options of a ${kind.name}`,
      run: async (session) => {
        const path = await prepare(session);
        for (const body of deleteBodies) {
          await session.quietly("POST", path, withName("one"));
          await session.delete(`DELETE with ${JSON.stringify(body)}`, `${path}/one`, body);
        }
        for (const query of deleteQueries) {
          await session.quietly("POST", path, withName("one"));
          await session.delete(`DELETE with ${query}`, `${path}/one?${query}`);
        }
      },
    },
  ];
}

function patchOf(type: string, body: unknown): { headers: Record<string, string>; body: unknown } {
  return { headers: { "content-type": type }, body };
}
