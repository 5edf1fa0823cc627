/** Lists: pages, versions, selectors. */
import type { Case } from "../case.ts";
import type { Loose } from "../session.ts";

export const listing: readonly Case[] = [
  {
    name: "list in pages",
    run: async (session) => {
      await session.createNamespace();
      const path = `/api/v1/namespaces/${session.slug}/configmaps`;
      let version = "";
      for (const name of ["a", "b", "c", "d", "e"]) {
        const labels = { half: name < "c" ? "first" : "second" };
        const answer = await session.quietly("POST", path, {
          apiVersion: "v1",
          kind: "ConfigMap",
          metadata: { name, labels },
        });
        version = answer?.metadata?.resourceVersion;
      }
      let page: Loose = await session.get("first page", `${path}?limit=2`);
      await session.quietly("DELETE", `${path}/d`);
      page = await session.get(
        "second page",
        `${path}?limit=2&continue=${encodeURIComponent(page?.metadata?.continue ?? "")}`,
      );
      await session.get("last page", `${path}?limit=2&continue=${encodeURIComponent(page?.metadata?.continue ?? "")}`);
      await session.get("page of a selection", `${path}?limit=1&labelSelector=half%3Dsecond`);
      await session.get("page with a version", `${path}?limit=2&resourceVersion=${version}`);
      await session.get("exactly a version", `${path}?resourceVersion=${version}&resourceVersionMatch=Exact`);
      await session.get(
        "not older than a version",
        `${path}?resourceVersion=${version}&resourceVersionMatch=NotOlderThan`,
      );
      await session.get("any version", `${path}?resourceVersion=0`);
      await session.get("a version of the future", `${path}?resourceVersion=999999999&timeoutSeconds=1`);
      await session.get("a match of no kind", `${path}?resourceVersion=${version}&resourceVersionMatch=Nope`);
      await session.get(
        "a match with a continue",
        `${path}?continue=x&resourceVersion=${version}&resourceVersionMatch=Exact`,
      );
      await session.get("a negative limit", `${path}?limit=-1`);
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
        await session.get(`labels ${selector}`, `${path}?labelSelector=${encodeURIComponent(selector)}`);
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
        await session.get(`fields ${selector}`, `${path}?fieldSelector=${encodeURIComponent(selector)}`);
      }
      await session.get("get at a version", `${path}/a?resourceVersion=${version}`);
      await session.get("get at any version", `${path}/a?resourceVersion=0`);
      await session.get("get at a version of the future", `${path}/a?resourceVersion=999999999`);
      await session.send("head", "HEAD", `${path}/a`);
      await session.send("options", "OPTIONS", path);
      await session.post("post to one", `${path}/a`, {});
      await session.put("put to all", path, {});
      await session.get("in yaml", `${path}/a`, "application/yaml");
      await session.get("pretty", `${path}/a?pretty=true`);
      await session.send("create in yaml", "POST", path, {
        headers: { "content-type": "application/yaml" },
        body: "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: yaml}\ndata: {a: 'x'}\n",
      });
      await session.send("create of an unknown type", "POST", path, {
        headers: { "content-type": "text/plain" },
        body: "x",
      });
      await session.post(
        "create twice a field",
        `${path}?fieldValidation=Strict&dryRun=All`,
        '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"twice"},"data":{"a":"1","a":"2"}}',
      );
      await session.get("an unknown resource", `/api/v1/namespaces/${session.slug}/nopes`);
      await session.get("an unknown group", "/apis/nope.example.test/v1/nopes");
      await session.get("an unknown version", "/apis/apps/v9/deployments");
      await session.get("an unknown subresource", `${path}/a/nope`);
      await session.get("an unknown path", "/nope");
    },
  },
];
