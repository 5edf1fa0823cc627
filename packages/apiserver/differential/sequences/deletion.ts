/** Deletions, and what the server adds to namespaces, tokens and reviews. */
import type { Case } from "../case.ts";

export const deletion: readonly Case[] = [
  {
    name: "delete a namespace",
    run: async (session) => {
      const name = session.slug;
      const path = `/api/v1/namespaces/${name}`;
      await session.post("create", "/api/v1/namespaces", { apiVersion: "v1", kind: "Namespace", metadata: { name } });
      await session.post("create inside", `${path}/configmaps`, {
        apiVersion: "v1",
        kind: "ConfigMap",
        metadata: { name: "a" },
      });
      await session.post("create inside an absent one", "/api/v1/namespaces/absent/configmaps", {
        apiVersion: "v1",
        kind: "ConfigMap",
        metadata: { name: "a" },
      });
      await session.delete("delete", path);
      await session.delete("delete again", path);
      await session.post("create inside what ends", `${path}/configmaps`, {
        apiVersion: "v1",
        kind: "ConfigMap",
        metadata: { name: "b" },
      });
      await session.send("label what ends", "PATCH", path, {
        headers: { "content-type": "application/merge-patch+json" },
        body: { metadata: { labels: { a: "b" } } },
      });
      const live = await session.get("get", path);
      await session.put("finalize", `${path}/finalize`, { ...live, spec: { finalizers: [] } });
      await session.get("get what is gone", path);
      for (const name of ["default", "kube-system", "kube-public", "kube-node-lease"])
        await session.delete(`delete ${name} dry`, `/api/v1/namespaces/${name}?dryRun=All`);
    },
  },
  {
    name: "delete a pod gracefully",
    run: async (session) => {
      await session.createNamespace();
      const path = `/api/v1/namespaces/${session.slug}/pods`;
      const pod = (name: string, spec: object = {}) => ({
        apiVersion: "v1",
        kind: "Pod",
        metadata: { name },
        spec: { containers: [{ name: "c", image: "i" }], ...spec },
      });
      await session.quietly("POST", path, pod("free"));
      await session.delete("delete one without a node", `${path}/free`);
      await session.get("get it", `${path}/free`);
      await session.quietly("POST", path, pod("bound"));
      await session.post("bind", `${path}/bound/binding`, {
        apiVersion: "v1",
        kind: "Binding",
        metadata: { name: "bound" },
        target: { kind: "Node", name: "n" },
      });
      await session.post("bind again", `${path}/bound/binding`, {
        apiVersion: "v1",
        kind: "Binding",
        metadata: { name: "bound" },
        target: { kind: "Node", name: "m" },
      });
      await session.delete("delete one on a node", `${path}/bound`);
      await session.delete("delete it sooner", `${path}/bound?gracePeriodSeconds=5`);
      await session.get("get what is going", `${path}/bound`);
      await session.delete("delete it at once", `${path}/bound?gracePeriodSeconds=0`);
      await session.get("get what is gone", `${path}/bound`);
      await session.quietly("POST", path, pod("evicted"));
      await session.post("evict", `${path}/evicted/eviction`, {
        apiVersion: "policy/v1",
        kind: "Eviction",
        metadata: { name: "evicted" },
      });
      await session.post("evict what is gone", `${path}/evicted/eviction`, {
        apiVersion: "policy/v1",
        kind: "Eviction",
        metadata: { name: "evicted" },
      });
      await session.quietly("POST", `/api/v1/namespaces/${session.slug}/serviceaccounts`, {
        apiVersion: "v1",
        kind: "ServiceAccount",
        metadata: { name: "robot" },
      });
      const tokens = `/api/v1/namespaces/${session.slug}/serviceaccounts/robot/token`;
      await session.post("create a token", tokens, {
        apiVersion: "authentication.k8s.io/v1",
        kind: "TokenRequest",
        spec: { audiences: ["a"], expirationSeconds: 700 },
      });
      await session.post("create a short token", tokens, {
        apiVersion: "authentication.k8s.io/v1",
        kind: "TokenRequest",
        spec: { expirationSeconds: 1 },
      });
      await session.post("create a token of nobody", tokens.replace("robot", "nobody"), {
        apiVersion: "authentication.k8s.io/v1",
        kind: "TokenRequest",
        spec: {},
      });
    },
  },
  {
    name: "discovery",
    isAlone: true,
    run: async (session) => {
      for (const path of [
        "/api",
        "/api/v1",
        "/apis/apps",
        "/apis/apps/v1",
        "/healthz",
        "/livez",
        "/readyz",
        "/apis/batch/v1",
        "/apis/policy/v1",
        "/apis/autoscaling",
        "/apis/nope",
        "/api/v2",
      ]) {
        await session.get(path, path);
      }
      const headers = { accept: "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList" };
      await session.send("aggregated api", "GET", "/api", { headers });
      await session.send("aggregated apis", "GET", "/apis", { headers });
    },
  },
];
