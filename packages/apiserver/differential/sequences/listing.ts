/** Lists: pages, versions, selectors. */
import type { Case } from "../case.ts";
import type { Loose } from "../session.ts";

export const listing: readonly Case[] = [
  {
    name: "list in pages",
    run: async (session) => {
      await session.quietly("POST", "/api/v1/namespaces", {
        apiVersion: "v1",
        kind: "Namespace",
        metadata: { name: session.slug },
      });
      const path = `/api/v1/namespaces/${session.slug}/configmaps`;
      let version = "";
      for (const name of ["a", "b", "c", "d", "e"]) {
        const labels = { half: name < "c" ? "first" : "second" };
        const made = await session.quietly("POST", path, {
          apiVersion: "v1",
          kind: "ConfigMap",
          metadata: { name, labels },
        });
        version = made?.metadata?.resourceVersion;
      }
      let page: Loose = await session.send("first page", "GET", `${path}?limit=2`);
      await session.quietly("DELETE", `${path}/d`);
      page = await session.send(
        "second page",
        "GET",
        `${path}?limit=2&continue=${encodeURIComponent(page?.metadata?.continue ?? "")}`,
      );
      await session.send(
        "last page",
        "GET",
        `${path}?limit=2&continue=${encodeURIComponent(page?.metadata?.continue ?? "")}`,
      );
      await session.send("page of a selection", "GET", `${path}?limit=1&labelSelector=half%3Dsecond`);
      await session.send("page with a version", "GET", `${path}?limit=2&resourceVersion=${version}`);
      await session.send("exactly a version", "GET", `${path}?resourceVersion=${version}&resourceVersionMatch=Exact`);
      await session.send(
        "not older than a version",
        "GET",
        `${path}?resourceVersion=${version}&resourceVersionMatch=NotOlderThan`,
      );
      await session.send("any version", "GET", `${path}?resourceVersion=0`);
      await session.send("a version of the future", "GET", `${path}?resourceVersion=999999999&timeoutSeconds=1`);
      await session.send("a match of no kind", "GET", `${path}?resourceVersion=${version}&resourceVersionMatch=Nope`);
      await session.send(
        "a match with a continue",
        "GET",
        `${path}?continue=x&resourceVersion=${version}&resourceVersionMatch=Exact`,
      );
      await session.send("a negative limit", "GET", `${path}?limit=-1`);
      for (const selector of [
        "half=first",
        "half!=first",
        "half in (first,second)",
        "half notin (first)",
        "!half",
        "half",
        "a,b",
        "x=",
        "a=(",
        "a in b",
        "half==second,half!=first",
      ]) {
        await session.send(`labels ${selector}`, "GET", `${path}?labelSelector=${encodeURIComponent(selector)}`);
      }
      for (const selector of [
        "metadata.name=a",
        "metadata.name!=a",
        "metadata.namespace=other",
        "metadata.name=a,metadata.name=b",
        "nope=1",
        "metadata.name",
        "=",
        "metadata.name==b",
      ]) {
        await session.send(`fields ${selector}`, "GET", `${path}?fieldSelector=${encodeURIComponent(selector)}`);
      }
      await session.send("get at a version", "GET", `${path}/a?resourceVersion=${version}`);
      await session.send("get at any version", "GET", `${path}/a?resourceVersion=0`);
      await session.send("get at a version of the future", "GET", `${path}/a?resourceVersion=999999999`);
      await session.send("head", "HEAD", `${path}/a`);
      await session.send("options", "OPTIONS", path);
      await session.send("post to one", "POST", `${path}/a`, { body: {} });
      await session.send("put to all", "PUT", path, { body: {} });
      await session.send("in yaml", "GET", `${path}/a`, { headers: { accept: "application/yaml" } });
      await session.send("pretty", "GET", `${path}/a?pretty=true`);
      await session.send("create in yaml", "POST", path, {
        headers: { "content-type": "application/yaml" },
        body: "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: yaml}\ndata: {a: 'x'}\n",
      });
      await session.send("create of an unknown type", "POST", path, {
        headers: { "content-type": "text/plain" },
        body: "x",
      });
      await session.send("create twice a field", "POST", `${path}?fieldValidation=Strict&dryRun=All`, {
        body: '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"twice"},"data":{"a":"1","a":"2"}}',
      });
      await session.send("an unknown resource", "GET", `/api/v1/namespaces/${session.slug}/nopes`);
      await session.send("an unknown group", "GET", "/apis/nope.example.test/v1/nopes");
      await session.send("an unknown version", "GET", "/apis/apps/v9/deployments");
      await session.send("an unknown subresource", "GET", `${path}/a/nope`);
      await session.send("an unknown path", "GET", "/nope");
    },
  },
];
