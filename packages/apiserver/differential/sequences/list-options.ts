/** Options of lists, of deletions of collections and of watches, most of them invalid. */
import type { Case } from "../case.ts";
import type { Session } from "../session.ts";

interface Token {
  readonly v?: string;
  readonly rv?: number;
  readonly start?: string;
}

const tokens: readonly Token[] = [
  {},
  { v: "meta.k8s.io/v1" },
  { v: "meta.k8s.io/v2", rv: 1, start: "b\0" },
  { v: "meta.k8s.io/v1", rv: 0, start: "b\0" },
  { v: "meta.k8s.io/v1", rv: -1, start: "b\0" },
  { v: "meta.k8s.io/v1", rv: -1, start: "/b\0" },
  { v: "meta.k8s.io/v1", rv: 5, start: "" },
  { v: "meta.k8s.io/v1", rv: 5, start: "../x" },
  { v: "meta.k8s.io/v1", rv: 9_999_999_999, start: "b\0" },
];

async function createMaps(session: Session): Promise<string> {
  const path = `/api/v1/namespaces/${session.slug}/configmaps`;
  const type = { apiVersion: "v1", kind: "ConfigMap" };
  await session.createNamespace();
  for (const name of ["a", "b", "c", "d", "e"]) {
    const finalizers = name === "e" ? ["example.test/kept"] : [];
    await session.quietly("POST", path, { ...type, metadata: { name, labels: { letter: name }, finalizers } });
  }
  return path;
}

export const listOptions: readonly Case[] = [
  {
    name: "tokens and selectors of curious clients",
    run: async (session) => {
      const path = await createMaps(session);
      for (const token of tokens) {
        const text = Buffer.from(JSON.stringify(token)).toString("base64url");
        await session.get(`token ${JSON.stringify(token)}`, `${path}?limit=2&continue=${text}`);
      }
      for (const query of ["limit=", "timeoutSeconds="]) await session.get(query, `${path}?${query}`);
      for (const selector of ["letter in (a,", "letter in (a,,b)", "letter in (,)", "letter in (a b)", "letter in ("])
        await session.get(selector, `${path}?labelSelector=${encodeURIComponent(selector)}`);
      await session.get("a backslash at the end", `${path}?fieldSelector=metadata.name%3Da%5C`);
      const ofMetadata = { accept: "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io" };
      await session.send("metadata of none", "GET", `${path}?labelSelector=none`, { headers: ofMetadata });
      const pods = `/api/v1/namespaces/${session.slug}/pods`;
      for (const field of ["status.podIPs=", "status.podIPs=10.0.0.1"])
        await session.get(field, `${pods}?fieldSelector=${encodeURIComponent(field)}`);
      const sets = `/apis/apps/v1/namespaces/${session.slug}/replicasets`;
      await session.get("replicas of sets", `${sets}?fieldSelector=status.replicas%3D0`);
      for (const query of ["continue=x", "continue=x&resourceVersion=0"])
        await session.watch(`${path}?watch=true&${query}`, { label: `watch ${query}`, until: () => true });
    },
  },
  {
    name: "collections deleted in parts",
    run: async (session) => {
      const path = await createMaps(session);
      for (const query of ["limit=1", "limit=1&continue=abc", "resourceVersion=abc", "labelSelector=letter%3Dc", ""])
        await session.delete(`delete ${query}`, `${path}?${query}`);
      await session.get("what is left", path);
      const body = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "e" } };
      await session.post("create what is being deleted", path, body);
    },
  },
  {
    name: "what kubectl applied without annotations",
    run: async (session) => {
      const path = await createMaps(session);
      const annotations = { "kubectl.kubernetes.io/last-applied-configuration": "{}" };
      await session.send("apply", "PATCH", `${path}/a?fieldManager=kubectl&force=true`, {
        headers: { "content-type": "application/apply-patch+yaml" },
        body: { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a", annotations } },
      });
    },
  },
  {
    name: "forms that are preferred, and managers taken away",
    run: async (session) => {
      const path = await createMaps(session);
      const table = "application/json;as=Table;g=meta.k8s.io";
      for (const accept of [
        "application/json;q=0.1,application/yaml;q=0.9",
        `${table};v=v1;q=0.5,application/yaml`,
        `${table};v=v2`,
        "application/json;v=v1",
      ])
        await session.get(accept, `${path}/a`, accept);
      const body = { metadata: { managedFields: [] } };
      await session.patch("no managers", `${path}/a`, body);
      const put = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "b", managedFields: [] }, data: { x: "y" } };
      await session.put("no managers by put", `${path}/b`, put);
      for (const apiVersion of ["a/b/c", ""]) {
        const ownerReferences = [{ apiVersion, kind: "A", name: "p", uid: "u" }];
        const owned = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "owned", ownerReferences } };
        await session.post(`owner in ${apiVersion}`, path, owned);
      }
      const pods = `/api/v1/namespaces/${session.slug}/pods`;
      const spec = { containers: [{ name: "c", image: "i" }] };
      await session.quietly("POST", pods, { apiVersion: "v1", kind: "Pod", metadata: { name: "p" }, spec });
      await session.send("a status without its class", "PATCH", `${pods}/p/status`, {
        headers: { "content-type": "application/json-patch+json" },
        body: [{ op: "replace", path: "/status", value: { phase: "Failed", reason: "Evicted" } }],
      });
      await session.get("a pod that has ended", `${pods}/p`, `${table};v=v1`);
      await session.get("no such component", "/api/v1/componentstatuses/none");
    },
  },
];
