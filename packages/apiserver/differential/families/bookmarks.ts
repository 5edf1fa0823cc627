/** The first bookmark of an empty watch, for every kind: its object has the zero values of its type. */
import { builtInRows } from "../../src/tables/tables.ts";
import type { Family, Probe } from "./family.ts";

const accepts: Readonly<Record<string, string>> = {
  json: "application/json",
  table: "application/json;as=Table;v=v1;g=meta.k8s.io",
  metadata: "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io",
};

async function bookmarks(probe: Probe): Promise<void> {
  for (const { group, version, plural, verbs } of builtInRows()) {
    if (!verbs.includes("watch")) continue;
    const root = group === "" ? `/api/${version}` : `/apis/${group}/${version}`;
    const query = "watch=true&allowWatchBookmarks=true&fieldSelector=metadata.name%3Dnobody&timeoutSeconds=20";
    for (const [form, accept] of Object.entries(accepts)) {
      const label = `${group}/${version}/${plural} as ${form}`;
      if (!probe.isChosen(label)) continue;
      await probe.session.watch(`${root}/${plural}?${query}`, { label, headers: { accept }, until: () => true });
    }
  }
}

export const bookmarksOfAll: Family = { name: "bookmarks", share: 0.04, run: bookmarks };
