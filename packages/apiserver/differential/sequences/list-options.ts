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

async function filled(session: Session): Promise<string> {
  const path = `/api/v1/namespaces/${session.slug}/configmaps`;
  const type = { apiVersion: "v1", kind: "ConfigMap" };
  await session.quietly("POST", "/api/v1/namespaces", {
    apiVersion: "v1",
    kind: "Namespace",
    metadata: { name: session.slug },
  });
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
      const path = await filled(session);
      for (const token of tokens) {
        const text = Buffer.from(JSON.stringify(token)).toString("base64url");
        await session.send(`token ${JSON.stringify(token)}`, "GET", `${path}?limit=2&continue=${text}`);
      }
      for (const query of ["limit=", "timeoutSeconds="]) await session.send(query, "GET", `${path}?${query}`);
      for (const selector of ["letter in (a,", "letter in (a,,b)", "letter in (,)", "letter in (a b)", "letter in ("])
        await session.send(selector, "GET", `${path}?labelSelector=${encodeURIComponent(selector)}`);
      await session.send("a backslash at the end", "GET", `${path}?fieldSelector=metadata.name%3Da%5C`);
      const ofMetadata = { accept: "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io" };
      await session.send("metadata of none", "GET", `${path}?labelSelector=none`, { headers: ofMetadata });
      const pods = `/api/v1/namespaces/${session.slug}/pods`;
      for (const field of ["status.podIPs=", "status.podIPs=10.0.0.1"])
        await session.send(field, "GET", `${pods}?fieldSelector=${encodeURIComponent(field)}`);
      const sets = `/apis/apps/v1/namespaces/${session.slug}/replicasets`;
      await session.send("replicas of sets", "GET", `${sets}?fieldSelector=status.replicas%3D0`);
      for (const query of ["continue=x", "continue=x&resourceVersion=0"])
        await session.watch(`${path}?watch=true&${query}`, { label: `watch ${query}`, until: () => true });
    },
  },
  {
    name: "collections deleted in parts",
    run: async (session) => {
      const path = await filled(session);
      for (const query of ["limit=1", "limit=1&continue=abc", "resourceVersion=abc", "labelSelector=letter%3Dc", ""])
        await session.send(`delete ${query}`, "DELETE", `${path}?${query}`);
      await session.send("what is left", "GET", path);
      const body = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "e" } };
      await session.send("create what is being deleted", "POST", path, { body });
    },
  },
  {
    name: "what kubectl applied without annotations",
    run: async (session) => {
      const path = await filled(session);
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
      const path = await filled(session);
      const table = "application/json;as=Table;g=meta.k8s.io";
      for (const accept of [
        "application/json;q=0.1,application/yaml;q=0.9",
        `${table};v=v1;q=0.5,application/yaml`,
        `${table};v=v2`,
        "application/json;v=v1",
      ])
        await session.send(accept, "GET", `${path}/a`, { headers: { accept } });
      const merge = { "content-type": "application/merge-patch+json" };
      const body = { metadata: { managedFields: [] } };
      await session.send("no managers", "PATCH", `${path}/a`, { headers: merge, body });
      const put = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "b", managedFields: [] }, data: { x: "y" } };
      await session.send("no managers by put", "PUT", `${path}/b`, { body: put });
      for (const apiVersion of ["a/b/c", ""]) {
        const ownerReferences = [{ apiVersion, kind: "A", name: "p", uid: "u" }];
        const owned = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "owned", ownerReferences } };
        await session.send(`owner in ${apiVersion}`, "POST", path, { body: owned });
      }
      const pods = `/api/v1/namespaces/${session.slug}/pods`;
      const spec = { containers: [{ name: "c", image: "i" }] };
      await session.quietly("POST", pods, { apiVersion: "v1", kind: "Pod", metadata: { name: "p" }, spec });
      await session.send("a status without its class", "PATCH", `${pods}/p/status`, {
        headers: { "content-type": "application/json-patch+json" },
        body: [{ op: "replace", path: "/status", value: { phase: "Failed", reason: "Evicted" } }],
      });
      await session.send("a pod that has ended", "GET", `${pods}/p`, { headers: { accept: `${table};v=v1` } });
      await session.send("no such component", "GET", "/api/v1/componentstatuses/none");
    },
  },
];
