/** Selectors, pages and options of lists, with each mistake that their grammar allows. */
import { collectionOf, configMap, gadget, gizmo, objectOf, pod, prepareKinds } from "./kinds.ts";
import { type Family, pairs, type Probe } from "./family.ts";

const labelSelectors = [
  "a",
  "!a",
  "! a",
  "!!a",
  "a=1",
  "a==1",
  "a===1",
  "a = 1",
  " a=1 ",
  "a!=1",
  "a!=",
  "a=",
  "=1",
  "a=1,",
  ",a=1",
  "a=1,,b=2",
  "a=1,b=2",
  "a in (1)",
  "a in(1,2)",
  "a in (1, 2 ,)",
  "a in ()",
  "a in (,)",
  "a in (1",
  "a in 1",
  "a in",
  "in (1)",
  "in in (in)",
  "in",
  "notin",
  "a notin (1,2)",
  "a NotIn (1)",
  "a not in (1)",
  "!a in (1)",
  "a>1",
  "a<1",
  "a>x",
  "a>1,a<3",
  "a>=1",
  "a>-1",
  "a>1.5",
  "x.y/z",
  "x.y/z=1",
  "x/y/z",
  "/z",
  "x.y/",
  "-a",
  "a-",
  "a=-1",
  "a=1-",
  "a=x y",
  "a=x,y",
  "a=(1)",
  'a="1"',
  "a='1'",
  "a=ä",
  "ä",
  "a=*",
  "*",
  "()",
  ")",
  "a)",
  ",",
  "a\tin\n(1)",
  "A_b.c",
  "a".repeat(64),
  `a=${"b".repeat(64)}`,
  `${"x".repeat(254)}/a`,
  "a=1;b=2",
  "a&b",
  "a=1#",
  "a=%31",
] as const;

const fieldSelectors = [
  "metadata.name=x",
  "metadata.name==x",
  "metadata.name!=x",
  "metadata.name=",
  "metadata.name",
  "metadata.namespace=x",
  "metadata.name=x,metadata.namespace!=y",
  "metadata.name=x,",
  ",metadata.name=x",
  "metadata.name=x,metadata.name=y",
  "metadata.name=X_Y",
  "metadata.name=a\\,b",
  "metadata.name=a\\=b",
  "metadata.name=a\\b",
  "metadata.name=a\\",
  "metadata.name in (x)",
  "metadata.name>x",
  "metadata.uid=x",
  "metadata.labels=x",
  "metadata.labels.a=1",
  "spec.color=red",
  "spec.color!=red",
  "spec.size=1",
  "status.phase=Running",
  "status.phase!=Pending,spec.nodeName=",
  "spec.nodeName=x",
  "spec.restartPolicy=Always",
  "spec.schedulerName=default-scheduler",
  "spec.serviceAccountName=default",
  "spec.hostNetwork=false",
  "status.podIP=10.0.0.1",
  "status.nominatedNodeName=x",
  "type=Opaque",
  "=x",
  "=",
  "x",
  " metadata.name = x ",
  "metadata.name=x;y",
  "metadata.name=*",
  "nope=1",
  "Metadata.Name=x",
] as const;

const listOptions = [
  "limit=0",
  "limit=1",
  "limit=2",
  "limit=-1",
  "limit=x",
  "limit=",
  "limit=1&limit=2",
  "limit=1&resourceVersion=0",
  "limit=1&resourceVersion=1",
  "limit=1&resourceVersionMatch=Exact",
  "limit=1&continue=",
  "continue=x",
  "continue=e30",
  "continue=eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6MSwic3RhcnQiOiJ4In0",
  "continue=eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6LTEsInN0YXJ0IjoieCJ9",
  "continue=eyJ2IjoibWV0YS5rOHMuaW8vdjIiLCJydiI6MSwic3RhcnQiOiJ4In0",
  "continue=eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6MSwic3RhcnQiOiIifQ",
  "continue=eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6MSwic3RhcnQiOiIuLi94In0",
  "continue=eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6Ik9vcHMiLCJzdGFydCI6IngifQ",
  "continue=x&resourceVersion=5",
  "continue=x&resourceVersion=0",
  "continue=x&resourceVersionMatch=Exact",
  "continue=x&resourceVersionMatch=NotOlderThan&resourceVersion=1",
  "resourceVersion=0",
  "resourceVersion=x",
  "resourceVersion=-1",
  "resourceVersion=1.0",
  "resourceVersion=999999999",
  "resourceVersion=999999999&resourceVersionMatch=NotOlderThan",
  "resourceVersion=999999999&resourceVersionMatch=Exact",
  "resourceVersionMatch=Exact",
  "resourceVersionMatch=NotOlderThan",
  "resourceVersionMatch=Foo",
  "resourceVersion=0&resourceVersionMatch=Exact",
  "resourceVersion=0&resourceVersionMatch=NotOlderThan",
  "resourceVersion=0&resourceVersionMatch=exact",
  "resourceVersion=0&resourceVersionMatch=",
  "sendInitialEvents=true",
  "sendInitialEvents=false",
  "sendInitialEvents=x",
  "sendInitialEvents=true&resourceVersionMatch=NotOlderThan",
  "allowWatchBookmarks=true",
  "allowWatchBookmarks=x",
  "timeoutSeconds=0",
  "timeoutSeconds=-1",
  "timeoutSeconds=x",
  "timeoutSeconds=99999999999999999999",
  "pretty=true",
  "pretty=false",
  "pretty=x",
  "pretty",
  "includeObject=None",
  "includeObject=Metadata",
  "includeObject=Object",
  "includeObject=x",
  "watch=false&timeoutSeconds=1",
  "watch=0&timeoutSeconds=1",
  "watch=x&timeoutSeconds=1",
  "watch=&timeoutSeconds=1",
  "labelSelector=a&labelSelector=b",
  "fieldSelector=metadata.name%3Dx&fieldSelector=metadata.name%3Dy",
  "dryRun=All",
  "foo=bar",
  "fieldManager=x",
  "kind=Pod",
  "shardSelector=x",
  "ignoreStoreReadErrorWithClusterBreakingPotential=true",
  "%zz=1",
  "a;b",
  "labelSelector=%zz",
  "=",
  "&&",
] as const;

async function selectors(probe: Probe): Promise<void> {
  await prepareKinds(probe);
  const secret = { ...configMap, name: "secret", kind: "Secret", plural: "secrets", rest: {} };
  for (const kind of [configMap, pod, gadget, secret]) {
    const collection = collectionOf(kind, probe.namespace);
    for (const [name, labels] of [
      ["x", { a: "1", b: "2" }],
      ["y", { a: "2", "x.y/z": "1" }],
      ["z", {}],
      ["v", { a: "", in: "in" }],
    ] as const)
      await probe.quietly("POST", collection, objectOf(kind, { name, labels }));
    for (const [index, text] of labelSelectors.entries()) {
      if (kind === secret || (kind !== configMap && index % 3 !== 0)) continue;
      const query = `labelSelector=${encodeURIComponent(text)}`;
      await probe.send(`list ${kind.name} of ${text}`, "GET", `${collection}?${query}`);
      if (index % 5 === 0)
        await probe.send(`delete ${kind.name} of ${text}`, "DELETE", `${collection}?${query}&dryRun=All`);
    }
    for (const [index, text] of fieldSelectors.entries()) {
      const query = `fieldSelector=${encodeURIComponent(text)}`;
      await probe.send(`list ${kind.name} with ${text}`, "GET", `${collection}?${query}`);
      if (index % 4 === 0)
        await probe.send(`delete ${kind.name} with ${text}`, "DELETE", `${collection}?${query}&dryRun=All`);
      if (index % 5 === 0)
        await probe.send(`table of ${kind.name} with ${text}`, "GET", `${collection}?${query}`, {
          headers: { accept: "application/json;as=Table;v=v1;g=meta.k8s.io,application/json" },
        });
    }
  }
  for (const [index, text] of [...labelSelectors, ...fieldSelectors].entries()) {
    if (index % 4 !== 0) continue;
    const name = index < labelSelectors.length ? "labelSelector" : "fieldSelector";
    for (const more of ["watch=true&timeoutSeconds=1", "watch=true&timeoutSeconds=1&resourceVersion=0"]) {
      const path = `${collectionOf(configMap, probe.namespace)}?${name}=${encodeURIComponent(text)}&${more}`;
      if (!probe.isChosen(`${more} ${text}`)) continue;
      await probe.session.watch(path, { label: `${more} ${text}`, patience: 1500 });
    }
  }
}

async function options(probe: Probe): Promise<void> {
  await prepareKinds(probe);
  for (const kind of [configMap, gadget, gizmo]) {
    const collection = collectionOf(kind, probe.namespace);
    for (const name of ["x", "y", "z"]) await probe.quietly("POST", collection, objectOf(kind, { name }));
    for (const query of listOptions) {
      await probe.send(`list ${kind.name} ${query}`, "GET", `${collection}?${query}`);
      // A server waits for a version to come.
      if (query.includes("999999999")) continue;
      if (kind !== gizmo) await probe.send(`read ${kind.name} ${query}`, "GET", `${collection}/x?${query}`);
      if (kind === gadget) continue;
      await probe.send(`delete ${kind.name} ${query}`, "DELETE", `${collection}?${query}&dryRun=All`);
      await probe.send(
        `everywhere ${kind.name} ${query}`,
        "GET",
        `${collection.replace(/namespaces\/[^/]+\//, "")}?${query}`.replace(
          "?",
          "?fieldSelector=metadata.name%3Dnone&",
        ),
      );
    }
  }
}

async function pages(probe: Probe): Promise<void> {
  await prepareKinds(probe);
  for (const [kind, accept] of pairs(
    [configMap, gadget],
    [
      "application/json",
      "application/json;as=Table;v=v1;g=meta.k8s.io",
      "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io",
    ],
  )) {
    const collection = collectionOf(kind, probe.namespace);
    const headers = { accept };
    for (const name of ["a", "b", "c", "d", "e"])
      await probe.quietly("POST", collection, objectOf(kind, { name, labels: { odd: String(name < "c") } }));
    let next = "";
    for (const [page, query] of ["limit=2", "limit=2", "limit=1", "limit=7"].entries()) {
      const label = `${kind.name} ${accept} page ${page}`;
      const list = await probe.session.send(
        label,
        "GET",
        `${collection}?${query}${next === "" ? "" : `&continue=${encodeURIComponent(next)}`}`,
        { headers },
      );
      next = list?.metadata?.continue ?? "";
      if (next === "" || page > 0) continue;
      const again = `continue=${encodeURIComponent(next)}`;
      for (const more of [
        "",
        "&limit=0",
        "&limit=-1",
        "&resourceVersion=1",
        "&resourceVersion=0",
        "&resourceVersion=",
        "&resourceVersionMatch=Exact",
        "&labelSelector=odd%3Dtrue",
        "&fieldSelector=metadata.name%3Dd",
        "&limit=1&fieldSelector=metadata.name!%3Dd",
        "&watch=true&timeoutSeconds=1",
      ])
        await probe.session.send(`${label}, then ${more}`, "GET", `${collection}?${again}${more}`, { headers });
      await probe.session.send(
        `${label} of another kind`,
        "GET",
        `/api/v1/namespaces/${probe.namespace}/secrets?${again}`,
        { headers },
      );
      await probe.session.send(`${label} elsewhere`, "GET", `/api/v1/namespaces/default/configmaps?${again}`, {
        headers,
      });
      await probe.session.send(`${label} cut off`, "GET", `${collection}?${again.slice(0, -3)}`, { headers });
      await probe.session.send(`${label} deleted`, "DELETE", `${collection}?${again}&limit=1&dryRun=All`, { headers });
    }
  }
}

export const selections: readonly Family[] = [
  { name: "selectors", run: selectors },
  { name: "options of lists", run: options },
  { name: "pages", run: pages },
];
