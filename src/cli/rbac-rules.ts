/** RBAC rules from what controllers declare: nothing more, and no wildcard. */
import type { Permissions } from "../client/permissions.ts";
import { crdOf } from "../resource/crd.ts";
import type { Resource } from "../resource/handle.ts";
import { pluralOf } from "../resource/names.ts";

export interface Rule {
  readonly apiGroup: string;
  /** Plurals, with subresources as in `deployments/status`. */
  readonly resources: readonly string[];
  /** Names of the objects that it is about. @default all */
  readonly resourceNames?: readonly string[] | undefined;
  readonly verbs: readonly string[];
}

const ORDER = ["get", "list", "watch", "create", "update", "patch", "delete", "deletecollection"];

export interface RuleOptions {
  /** What is permitted in a namespace, or in all of the cluster: kinds without, and what is permitted everywhere. @default both */
  readonly scope?: "Namespaced" | "Cluster" | undefined;
  /** Only what is permitted in this namespace alone; `undefined` for what is permitted wherever the process watches. */
  readonly namespace?: string | undefined;
}

/** The rules for all these permissions together: one per group and set of verbs, in a stable order. */
export function rulesOf(all: Iterable<Permissions>, { scope, namespace }: RuleOptions = {}): readonly Rule[] {
  const verbsOf = new Map<string, { apiGroup: string; name: string; verbs: Set<string> }>();
  for (const permissions of all) {
    for (const { resource, subresource, verbs, namespaces } of permissions) {
      const all = namespaces === "all";
      if (scope !== undefined && (all ? "Cluster" : resource.scope) !== scope) continue;
      if (namespace === undefined ? !all && namespaces !== undefined : all || !namespaces?.includes(namespace))
        continue;
      // A handle of `resource()` does not know its plural without a cluster: by convention it follows from the kind.
      const plural = resource.plural ?? pluralOf(resource.kind.toLowerCase());
      const name = subresource === undefined ? plural : `${plural}/${subresource}`;
      const id = `${resource.group}/${name}`;
      const entry = verbsOf.get(id) ?? { apiGroup: resource.group, name, verbs: new Set() };
      for (const verb of verbs) entry.verbs.add(verb);
      verbsOf.set(id, entry);
    }
  }
  const rules = new Map<string, { apiGroup: string; resources: string[]; verbs: readonly string[] }>();
  for (const { apiGroup, name, verbs } of [...verbsOf.values()].sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const sorted = ORDER.filter((verb) => verbs.has(verb));
    const id = `${apiGroup} ${sorted.join(" ")}`;
    const rule = rules.get(id);
    if (rule === undefined) rules.set(id, { apiGroup, resources: [name], verbs: sorted });
    else rule.resources.push(name);
  }
  return [...rules.values()].sort(
    (a, b) => compare(a.apiGroup, b.apiGroup) || compare(a.resources[0]!, b.resources[0]!),
  );
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/**
 * What `--install-crds` takes for these kinds: their definitions, and a look at whether there are objects, which a change
 * of a definition could lose data of.
 */
export function installRules(resources: readonly Resource[]): readonly Rule[] {
  const defined = resources.map((resource) => ({ crd: crdOf(resource), group: resource.group }));
  if (defined.length === 0) return [];
  const plurals = new Map<string, string[]>();
  for (const { crd, group } of defined) plurals.set(group, [...(plurals.get(group) ?? []), crd.spec.names.plural]);
  return [
    {
      apiGroup: "apiextensions.k8s.io",
      resources: ["customresourcedefinitions"],
      resourceNames: defined.map(({ crd }) => crd.metadata.name).sort(),
      verbs: ["get", "create", "patch"],
    },
    ...[...plurals].map(([apiGroup, names]) => ({ apiGroup, resources: names.sort(), verbs: ["list"] })),
  ];
}
