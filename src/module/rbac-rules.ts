/** Derives RBAC rules from the declarations of controllers: no further rules, and no wildcard. */
import type { Permissions } from "../client/permissions.ts";
import { crdOf } from "../resource/crd.ts";
import type { Resource } from "../resource/handle.ts";
import { pluralOf } from "../resource/names.ts";

export interface Rule {
  readonly apiGroup: string;
  /** The plurals, with subresources as in `deployments/status`. */
  readonly resources: readonly string[];
  /** The names of the objects. @default all */
  readonly resourceNames?: readonly string[] | undefined;
  readonly verbs: readonly string[];
}

/** The usual verbs in their customary order; others follow. */
const ORDER = ["get", "list", "watch", "create", "update", "patch", "delete", "deletecollection"];

export interface RuleOptions {
  /** The scope of the returned permissions: a namespace, or the whole cluster. @default both */
  readonly scope?: "Namespaced" | "Cluster" | undefined;
  /** The namespace whose own permissions are returned; `undefined` for the permissions in all watched namespaces. */
  readonly namespace?: string | undefined;
}

/** The permissions for one resource. */
interface Access {
  readonly apiGroup: string;
  readonly name: string;
  readonly names: readonly string[] | undefined;
  readonly verbs: Set<string>;
}

/** Returns the rules for all these permissions together: one per group, set of verbs and names, in a stable order. */
export function rulesOf(all: Iterable<Permissions>, { scope, namespace }: RuleOptions = {}): readonly Rule[] {
  const accesses = new Map<string, Access>();
  for (const permissions of all) {
    for (const { resource, subresource, verbs, namespaces, names } of permissions) {
      const all = namespaces === "all";
      if (scope !== undefined && (all ? "Cluster" : resource.scope) !== scope) continue;
      if (namespace === undefined ? !all && namespaces !== undefined : all || !namespaces?.includes(namespace))
        continue;
      // Without a cluster the plural of a handle of `resource()` is unknown, so it follows from the kind by
      // convention.
      const plural = resource.plural ?? pluralOf(resource.kind.toLowerCase());
      const name = subresource === undefined ? plural : `${plural}/${subresource}`;
      const sorted = names?.toSorted();
      const id = `${resource.group}/${name} ${sorted?.join() ?? ""}`;
      const access = accesses.get(id) ?? { apiGroup: resource.group, name, names: sorted, verbs: new Set() };
      for (const verb of verbs) access.verbs.add(verb);
      accesses.set(id, access);
    }
  }
  const rules = new Map<string, { readonly rule: Rule; readonly resources: string[] }>();
  for (const { apiGroup, name, names, verbs } of [...accesses.values()].sort((a, b) => compare(a.name, b.name))) {
    const sorted = inOrder(verbs);
    const id = `${apiGroup} ${sorted.join(" ")} ${names?.join() ?? ""}`;
    const known = rules.get(id);
    if (known !== undefined) {
      known.resources.push(name);
      continue;
    }
    const resources = [name];
    rules.set(id, { rule: { apiGroup, resources, resourceNames: names, verbs: sorted }, resources });
  }
  return [...rules.values()].map(({ rule }) => rule).sort((a, b) => compare(placeOf(a), placeOf(b)));
}

function placeOf({ apiGroup, resources, resourceNames = [] }: Rule): string {
  return [apiGroup, resources[0], ...resourceNames].join(" ");
}

function inOrder(verbs: ReadonlySet<string>): readonly string[] {
  const others = [...verbs].filter((verb) => !ORDER.includes(verb)).sort();
  return [...ORDER.filter((verb) => verbs.has(verb)), ...others];
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/**
 * Returns the rules of `--install-crds` for these kinds: writing their definitions, and listing objects, because a
 * change of a definition could lose data of existing ones.
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
