/** Deletions, and what the server adds to namespaces, tokens and reviews. */
import type { Case } from "../case.ts";

export const deletion: readonly Case[] = [
  {
    name: "delete a namespace",
    run: async (session) => {
      const name = session.slug;
      const path = `/api/v1/namespaces/${name}`;
      await session.send("create", "POST", "/api/v1/namespaces", {
        body: { apiVersion: "v1", kind: "Namespace", metadata: { name } },
      });
      await session.send("create inside", "POST", `${path}/configmaps`, {
        body: { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a" } },
      });
      await session.send("create inside an absent one", "POST", "/api/v1/namespaces/absent/configmaps", {
        body: { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a" } },
      });
      await session.send("delete", "DELETE", path);
      await session.send("delete again", "DELETE", path);
      await session.send("create inside what ends", "POST", `${path}/configmaps`, {
        body: { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "b" } },
      });
      await session.send("label what ends", "PATCH", path, {
        headers: { "content-type": "application/merge-patch+json" },
        body: { metadata: { labels: { a: "b" } } },
      });
      const live = await session.send("get", "GET", path);
      await session.send("finalize", "PUT", `${path}/finalize`, { body: { ...live, spec: { finalizers: [] } } });
      await session.send("get what is gone", "GET", path);
      for (const kept of ["default", "kube-system", "kube-public", "kube-node-lease"])
        await session.send(`delete ${kept} dry`, "DELETE", `/api/v1/namespaces/${kept}?dryRun=All`);
    },
  },
  {
    name: "delete a pod gracefully",
    run: async (session) => {
      await session.quietly("POST", "/api/v1/namespaces", {
        apiVersion: "v1",
        kind: "Namespace",
        metadata: { name: session.slug },
      });
      const path = `/api/v1/namespaces/${session.slug}/pods`;
      const pod = (name: string, spec: object = {}) => ({
        apiVersion: "v1",
        kind: "Pod",
        metadata: { name },
        spec: { containers: [{ name: "c", image: "i" }], ...spec },
      });
      await session.quietly("POST", path, pod("free"));
      await session.send("delete one without a node", "DELETE", `${path}/free`);
      await session.send("get it", "GET", `${path}/free`);
      await session.quietly("POST", path, pod("bound"));
      await session.send("bind", "POST", `${path}/bound/binding`, {
        body: { apiVersion: "v1", kind: "Binding", metadata: { name: "bound" }, target: { kind: "Node", name: "n" } },
      });
      await session.send("bind again", "POST", `${path}/bound/binding`, {
        body: { apiVersion: "v1", kind: "Binding", metadata: { name: "bound" }, target: { kind: "Node", name: "m" } },
      });
      await session.send("delete one on a node", "DELETE", `${path}/bound`);
      await session.send("delete it sooner", "DELETE", `${path}/bound?gracePeriodSeconds=5`);
      await session.send("get what is going", "GET", `${path}/bound`);
      await session.send("delete it at once", "DELETE", `${path}/bound?gracePeriodSeconds=0`);
      await session.send("get what is gone", "GET", `${path}/bound`);
      await session.quietly("POST", path, pod("evicted"));
      await session.send("evict", "POST", `${path}/evicted/eviction`, {
        body: { apiVersion: "policy/v1", kind: "Eviction", metadata: { name: "evicted" } },
      });
      await session.send("evict what is gone", "POST", `${path}/evicted/eviction`, {
        body: { apiVersion: "policy/v1", kind: "Eviction", metadata: { name: "evicted" } },
      });
      await session.quietly("POST", `/api/v1/namespaces/${session.slug}/serviceaccounts`, {
        apiVersion: "v1",
        kind: "ServiceAccount",
        metadata: { name: "robot" },
      });
      const tokens = `/api/v1/namespaces/${session.slug}/serviceaccounts/robot/token`;
      await session.send("create a token", "POST", tokens, {
        body: {
          apiVersion: "authentication.k8s.io/v1",
          kind: "TokenRequest",
          spec: { audiences: ["a"], expirationSeconds: 700 },
        },
      });
      await session.send("create a short token", "POST", tokens, {
        body: { apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest", spec: { expirationSeconds: 1 } },
      });
      await session.send("create a token of nobody", "POST", tokens.replace("robot", "nobody"), {
        body: { apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest", spec: {} },
      });
    },
  },
  {
    name: "discovery",
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
        await session.send(path, "GET", path);
      }
      const aggregated = { accept: "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList" };
      await session.send("aggregated api", "GET", "/api", { headers: aggregated });
      await session.send("aggregated apis", "GET", "/apis", { headers: aggregated });
    },
  },
];
