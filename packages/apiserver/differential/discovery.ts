/** The kinds in a server's discovery, for which cases are generated. */
import type { Target } from "./case.ts";

export interface Served {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
  readonly namespaced: boolean;
  readonly verbs: readonly string[];
  readonly subresources: readonly ServedSubresource[];
}

export interface ServedSubresource {
  readonly name: string;
  readonly kind: string;
  readonly apiVersion: string;
  readonly verbs: readonly string[];
}

interface ResourceList {
  resources: { name: string; kind: string; namespaced: boolean; verbs: string[]; group?: string; version?: string }[];
}

export async function discover(target: Target): Promise<Served[]> {
  const get = async (path: string) =>
    (await (
      await target.fetch(new Request(`https://server${path}`, { headers: { accept: "application/json" } }))
    ).json()) as unknown;
  const groups = (await get("/apis")) as { groups: { versions: { groupVersion: string }[] }[] };
  const versions = ["v1", ...groups.groups.flatMap((group) => group.versions.map((each) => each.groupVersion))];
  const kinds: Served[] = [];
  for (const groupVersion of versions) {
    const [group, version] = groupVersion === "v1" ? ["", "v1"] : (groupVersion.split("/") as [string, string]);
    const { resources } = (await get(group === "" ? "/api/v1" : `/apis/${groupVersion}`)) as ResourceList;
    for (const { name, kind, namespaced, verbs } of resources.filter((each) => !each.name.includes("/"))) {
      const subresources = resources
        .filter((each) => each.name.startsWith(`${name}/`))
        .map((each) => ({
          name: each.name.slice(name.length + 1),
          kind: each.kind,
          apiVersion: each.version ? (each.group ? `${each.group}/${each.version}` : each.version) : groupVersion,
          verbs: each.verbs,
        }));
      kinds.push({ group, version, kind, plural: name, namespaced, verbs, subresources });
    }
  }
  return kinds;
}

export function apiVersionOf({ group, version }: Pick<Served, "group" | "version">): string {
  return group === "" ? version : `${group}/${version}`;
}

export function pathOf(served: Served, namespace: string | undefined): string {
  const root = served.group === "" ? "/api/v1" : `/apis/${served.group}/${served.version}`;
  return served.namespaced && namespace !== undefined
    ? `${root}/namespaces/${namespace}/${served.plural}`
    : `${root}/${served.plural}`;
}
