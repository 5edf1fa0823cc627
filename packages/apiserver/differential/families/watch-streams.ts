/** Watches: how they begin, in every form, from every version, of one object and of many. */
import type { Loose } from "../session.ts";
import { isChosen, pairs } from "../sampling.ts";
import type { Family, Probe } from "./family.ts";
import { collectionOf, configMap, deployment, gadget, gizmo, type Kind, objectOf, prepareKinds } from "../kinds.ts";

const meta = "v=v1;g=meta.k8s.io";
const accepts: Readonly<Record<string, string>> = {
  json: "application/json",
  table: `application/json;as=Table;${meta}`,
  "old table": "application/json;as=Table;v=v1beta1;g=meta.k8s.io",
  "table or json": `application/json;as=Table;${meta},application/json`,
  metadata: `application/json;as=PartialObjectMetadata;${meta}`,
  "metadata of lists": `application/json;as=PartialObjectMetadataList;${meta}`,
  "metadata or json": `application/json;as=PartialObjectMetadata;${meta},application/json`,
  yaml: "application/yaml",
  stream: "application/json;stream=watch",
  anything: "*/*",
  nothing: "text/csv",
};

const initials: readonly string[] = ["", "sendInitialEvents=true", "sendInitialEvents=false", "sendInitialEvents=x"];
const matches: readonly string[] = [
  "",
  "resourceVersionMatch=NotOlderThan",
  "resourceVersionMatch=Exact",
  "resourceVersionMatch=x",
];
const bookmarks: readonly string[] = ["", "allowWatchBookmarks=true", "allowWatchBookmarks=x"];
/** `OLD` and `NOW` stand for versions of the case. */
const versions: readonly string[] = [
  "",
  "resourceVersion=",
  "resourceVersion=0",
  "resourceVersion=OLD",
  "resourceVersion=NOW",
  "resourceVersion=abc",
  "resourceVersion=-1",
];
const extras: readonly string[] = [
  "",
  "limit=1",
  "continue=x",
  "includeObject=Object",
  "includeObject=None",
  "includeObject=x",
  "timeoutSeconds=x",
];

interface Scope {
  readonly name: string;
  readonly path: (collection: string) => string;
  readonly query?: string;
  /** The object whose deletion is the last event. */
  readonly last: string;
}

const scopes: readonly Scope[] = [
  { name: "all", path: (collection) => collection, last: "two" },
  { name: "one by field", path: (collection) => collection, query: "fieldSelector=metadata.name%3Done", last: "one" },
  { name: "some by label", path: (collection) => collection, query: "labelSelector=app%3Dx", last: "two" },
  { name: "none", path: (collection) => collection, query: "labelSelector=app%3Dnone", last: "none" },
  { name: "one by path", path: (collection) => `${watchPath(collection)}/one`, last: "one" },
  {
    name: "an absent one by field",
    path: (collection) => collection,
    query: "fieldSelector=metadata.name%3Dnone",
    last: "none",
  },
  { name: "all by path", path: watchPath, last: "two" },
];

function watchPath(collection: string): string {
  return collection.replace(/^(\/api\/v1|\/apis\/[^/]+\/[^/]+)/, "$1/watch");
}

function nameOf(event: Loose): string {
  const { object } = event ?? {};
  if (object?.kind !== "Table") return object?.metadata?.name ?? "";
  return object.rows?.[0]?.object?.metadata?.name ?? object.rows?.[0]?.cells?.[0] ?? "";
}

interface Stream {
  readonly label: string;
  readonly scope: Scope;
  readonly query: string;
  readonly accept: string;
  /** kube-apiserver shares encoded events between watches, and rows get the columns of another watch's first event. */
  readonly identity: string;
}

/** The number of watches that share the objects of a batch. */
const mostAtOnce = 30;

function batches(streams: readonly Stream[]): Stream[][] {
  const list: Stream[][] = [];
  for (const stream of streams) {
    const fitting = list.find(
      (batch) =>
        batch.length < mostAtOnce &&
        (stream.identity === "" || batch.every(({ identity }) => identity !== stream.identity)),
    );
    if (fitting) fitting.push(stream);
    else list.push([stream]);
  }
  return list;
}

async function streams(kind: Kind, probe: Probe): Promise<void> {
  await prepareKinds(probe.session);
  const all: Stream[] = [];
  const options = pairs(pairs(initials, matches), pairs(bookmarks, pairs(versions, extras)));
  for (const [scope, [accept, header]] of pairs(scopes, Object.entries(accepts))) {
    for (const [[initial, match], [bookmark, [version, extra]]] of options) {
      const query = [initial, match, bookmark, version, extra, scope.query ?? ""]
        .filter((part) => part !== "")
        .join("&");
      const label = `${scope.name} as ${accept} ?${query}`;
      // There are very many: those that begin a watch are preferred to those that are refused.
      const seldom = (extra === "" ? 0 : 2) + (/=x|abc|-1|Exact/.test(query) ? 2 : 0) + (accept === "json" ? 0 : 1);
      if (!isChosen(probe.namespace, label, 0.0008 / 2 ** seldom)) continue;
      const identity = header.includes("as=Table") ? `${/v=v1\w*/.exec(header)?.[0]} ${extra}` : "";
      all.push({ label, scope, query, accept: header, identity });
    }
  }
  for (const batch of batches(all)) await playBatch(kind, probe, batch);
}

/** Starts the watches, changes objects, and waits until all have seen it. */
async function playBatch(kind: Kind, probe: Probe, batch: readonly Stream[]): Promise<void> {
  const collection = collectionOf(kind, probe.namespace);
  const old = String((await probe.quietly("GET", `${collection}?limit=1`))?.metadata?.resourceVersion);
  await probe.quietly("POST", collection, objectOf(kind, { name: "one", labels: { app: "x" } }));
  const two = await probe.quietly("POST", collection, objectOf(kind, { name: "two", labels: { app: "y" } }));
  const now = String(two?.metadata?.resourceVersion);
  let waiting = batch.length;
  const { promise: allBegan, resolve: begin } = Promise.withResolvers<void>();
  const beginning = async (): Promise<void> => {
    if (--waiting === 0) begin();
    await allBegan;
  };
  const changes = async (): Promise<void> => {
    await allBegan;
    // The response headers arrive before a server has looked at its objects.
    await Bun.sleep(100);
    await probe.session.noticed(900);
    await probe.merge(`${collection}/one`, { metadata: { labels: { changed: "yes" } } });
    await probe.merge(`${collection}/two`, { metadata: { labels: { app: "x" } } });
    await probe.quietly("POST", collection, objectOf(kind, { name: "three", labels: { app: "x" } }));
    for (const name of ["three", "one", "two"]) await probe.quietly("DELETE", `${collection}/${name}`);
  };
  const watches = batch.map(async ({ label, scope: { path, last }, query, accept }) => {
    const wholeQuery = query.replace("OLD", old).replace("NOW", now);
    await probe.session.watch(`${path(collection)}?watch=true&timeoutSeconds=30&${wholeQuery}`, {
      label,
      headers: { accept },
      meanwhile: beginning,
      patience: last === "none" ? 2500 : 8000,
      until: (event) => event?.type === "ERROR" || (event?.type === "DELETED" && nameOf(event) === last),
    });
  });
  await Promise.all([...watches, changes()]);
}

export const watchStreams: readonly Family[] = [configMap, deployment, gadget, gizmo].map((kind) => ({
  name: `streams of a ${kind.name}`,
  run: (probe) => streams(kind, probe),
}));
