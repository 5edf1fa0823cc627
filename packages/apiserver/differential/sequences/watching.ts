/** Watches: from a version, with bookmarks, initial events, transitions of a selector, and versions that are gone. */
import type { Case } from "../case.ts";
import type { Loose, Session } from "../session.ts";

const merge = { "content-type": "application/merge-patch+json" };

async function place(session: Session): Promise<string> {
  const name = session.slug;
  await session.quietly("POST", "/api/v1/namespaces", { apiVersion: "v1", kind: "Namespace", metadata: { name } });
  return `/api/v1/namespaces/${name}/configmaps`;
}

function map(name: string, labels: object = {}): object {
  return { apiVersion: "v1", kind: "ConfigMap", metadata: { name, labels }, data: { a: "1" } };
}

const ended = (event: Loose): boolean => event?.type === "DELETED" && event?.object?.metadata?.name === "last";
const initialEnd = (event: Loose): boolean =>
  event?.type === "BOOKMARK" && event?.object?.metadata?.annotations?.["k8s.io/initial-events-end"] === "true";

async function finish(session: Session, path: string): Promise<void> {
  await session.quietly("POST", path, map("last", { app: "x" }));
  await session.quietly("DELETE", `${path}/last`);
}

export const watching: readonly Case[] = [
  {
    name: "watch from versions",
    run: async (session) => {
      const path = await place(session);
      const before = (await session.quietly("GET", path))?.metadata?.resourceVersion;
      const first = await session.quietly("POST", path, map("one"));
      await session.quietly("PATCH", `${path}/one`, undefined);
      await session.send("label", "PATCH", `${path}/one`, {
        headers: merge,
        body: { metadata: { labels: { x: "y" } } },
      });
      await finish(session, path);
      await session.watch(`${path}?watch=true&resourceVersion=${before}`, {
        label: "from the beginning",
        until: ended,
      });
      await session.watch(`${path}?watch=true&resourceVersion=${first?.metadata?.resourceVersion}`, {
        label: "from the middle",
        until: ended,
      });
      await session.watch(`${path}?watch=true&resourceVersion=0`, {
        label: "from any version",
        until: (_, index) => index === 0,
      });
      await session.watch(`${path}?watch=true`, { label: "from no version", until: (_, index) => index === 0 });
      await session.watch(`${path}?watch=true&resourceVersion=${before}&fieldSelector=metadata.name%3Done`, {
        label: "of one name",
        until: (_, index) => index === 1,
      });
      await session.watch(`/api/v1/watch/namespaces/${session.slug}/configmaps?resourceVersion=${before}`, {
        label: "the older path",
        until: ended,
      });
      await session.watch(`${path}?watch=true&timeoutSeconds=1&resourceVersion=${first?.metadata?.resourceVersion}`, {
        label: "that times out",
      });
      await session.watch(`${path}?watch=true&resourceVersion=nope`, { label: "from no number" });
      await session.watch(`${path}?watch=true&resourceVersion=1`, {
        label: "from a version long gone",
        until: (event) => event?.type === "ERROR" || event?.kind === "Status",
      });
      await session.watch(`${path}?watch=true&limit=1&resourceVersion=${before}`, {
        label: "with a limit",
        until: ended,
      });
      await session.watch(`${path}?watch=true&resourceVersion=${before}&resourceVersionMatch=Exact`, {
        label: "with a match",
      });
    },
  },
  {
    name: "watch initial events",
    run: async (session) => {
      const path = await place(session);
      await session.quietly("POST", path, map("one"));
      await session.quietly("POST", path, map("two"));
      const query = "watch=true&sendInitialEvents=true&allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan";
      await session.watch(`${path}?${query}`, { label: "all", until: initialEnd });
      await session.watch(`${path}?${query}&fieldSelector=metadata.name%3Dtwo`, { label: "some", until: initialEnd });
      await session.watch(`${path}?watch=true&sendInitialEvents=true&allowWatchBookmarks=true`, {
        label: "without a match",
      });
      await session.watch(`${path}?watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan`, {
        label: "without bookmarks",
        until: (_, index) => index === 1,
      });
      await session.send("without a watch", "GET", `${path}?sendInitialEvents=true&resourceVersionMatch=NotOlderThan`);
      await session.watch(`${path}?watch=true&sendInitialEvents=nope`, { label: "of no boolean" });
    },
  },
  {
    name: "watch a selector",
    run: async (session) => {
      const path = await place(session);
      const before = (await session.quietly("GET", path))?.metadata?.resourceVersion;
      await session.quietly("POST", path, map("one", { app: "x" }));
      for (const [step, app] of ["y", "x", "x2", null].entries()) {
        await session.send(`label ${step}`, "PATCH", `${path}/one`, {
          headers: merge,
          body: { metadata: { labels: { app } } },
        });
      }
      await session.send("label back", "PATCH", `${path}/one`, {
        headers: merge,
        body: { metadata: { labels: { app: "x" } } },
      });
      await session.send("delete", "DELETE", `${path}/one`);
      await finish(session, path);
      await session.watch(`${path}?watch=true&resourceVersion=${before}&labelSelector=app%3Dx`, {
        label: "one value",
        until: ended,
      });
      await session.watch(`${path}?watch=true&resourceVersion=${before}&labelSelector=app%20notin%20(y)`, {
        label: "not a value",
        until: ended,
      });
      const headers = { accept: "application/json;as=Table;v=v1;g=meta.k8s.io" };
      await session.send("list as an older table", "GET", path, {
        headers: { accept: headers.accept.replace("v1;", "v1beta1;") },
      });
    },
  },
];
