/** Watches: from a version, with bookmarks, initial events, transitions of a selector, and versions that are gone. */
import type { Case } from "../case.ts";
import type { Loose, Session } from "../session.ts";

async function place(session: Session): Promise<string> {
  return `${await session.createNamespace()}/configmaps`;
}

function map(name: string, labels: object = {}): object {
  return { apiVersion: "v1", kind: "ConfigMap", metadata: { name, labels }, data: { a: "1" } };
}

const isLast = (event: Loose): boolean => event?.type === "DELETED" && event?.object?.metadata?.name === "last";
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
      await session.patch("label", `${path}/one`, { metadata: { labels: { x: "y" } } });
      await finish(session, path);
      await session.watch(`${path}?watch=true&resourceVersion=${before}`, {
        label: "from the beginning",
        until: isLast,
      });
      await session.watch(`${path}?watch=true&resourceVersion=${first?.metadata?.resourceVersion}`, {
        label: "from the middle",
        until: isLast,
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
        until: isLast,
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
        until: isLast,
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
      await session.get("without a watch", `${path}?sendInitialEvents=true&resourceVersionMatch=NotOlderThan`);
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
        await session.patch(`label ${step}`, `${path}/one`, { metadata: { labels: { app } } });
      }
      await session.patch("label back", `${path}/one`, { metadata: { labels: { app: "x" } } });
      await session.delete("delete", `${path}/one`);
      await finish(session, path);
      await session.watch(`${path}?watch=true&resourceVersion=${before}&labelSelector=app%3Dx`, {
        label: "one value",
        until: isLast,
      });
      await session.watch(`${path}?watch=true&resourceVersion=${before}&labelSelector=app%20notin%20(y)`, {
        label: "not a value",
        until: isLast,
      });
      const headers = { accept: "application/json;as=Table;v=v1;g=meta.k8s.io" };
      await session.get("list as an older table", path, headers.accept.replace("v1;", "v1beta1;"));
    },
  },
];
