/** Makes the rows of the kinds table from discovery. */
import type { Documents } from "./documents.ts";

interface ResourceList {
  readonly groupVersion: string;
  readonly resources: readonly DiscoveredResource[];
}

interface DiscoveredResource {
  readonly name: string;
  readonly singularName: string;
  readonly namespaced: boolean;
  readonly group?: string;
  readonly version?: string;
  readonly kind: string;
  readonly verbs: readonly string[];
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
  readonly storageVersionHash?: string;
}

interface GroupList {
  readonly groups: readonly {
    readonly name: string;
    readonly versions: readonly { readonly version: string }[];
  }[];
}

export interface TableRow extends Readonly<Record<string, unknown>> {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
  readonly verbs: readonly string[];
}

/** Returns every served kind in the order of discovery: the core group first, a group's preferred version first. */
export function tableRows({ discovery }: Documents): TableRow[] {
  const rows: TableRow[] = rowsOf("", "v1", discovery.get("/api/v1"));
  for (const { name, versions } of (discovery.get("/apis") as GroupList).groups) {
    for (const { version } of versions) rows.push(...rowsOf(name, version, discovery.get(`/apis/${name}/${version}`)));
  }
  return rows.map((row) => {
    const storage = rows.find((other) => other.group === row.group && other.kind === row.kind);
    return { ...row, storageVersion: storage?.version };
  });
}

function rowsOf(group: string, version: string, list: unknown): TableRow[] {
  const { resources } = list as ResourceList;
  return resources
    .filter(({ name }) => !name.includes("/"))
    .map((resource) => ({
      group,
      version,
      kind: resource.kind,
      plural: resource.name,
      singular: resource.singularName,
      listKind: resource.verbs.includes("list") ? `${resource.kind}List` : "",
      shortNames: resource.shortNames ?? [],
      categories: resource.categories ?? [],
      namespaced: resource.namespaced,
      verbs: resource.verbs,
      subresources: resources
        .filter(({ name }) => name.startsWith(`${resource.name}/`))
        .map((sub) => ({
          name: sub.name.slice(resource.name.length + 1),
          responseKind: { group: sub.group ?? group, version: sub.version ?? version, kind: sub.kind },
          verbs: sub.verbs,
        })),
      storageVersionHash: resource.storageVersionHash ?? "",
      custom: false,
    }));
}
