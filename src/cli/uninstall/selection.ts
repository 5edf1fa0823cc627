/** Determines which modules are uninstalled, and what the others still need. */
import { declarationsOf } from "../../controller/declarations.ts";
import type { LoadedModule } from "../../module/loaded-module.ts";
import { nearest } from "../../module/nearest.ts";
import { groupKind, type Resource } from "../../resource/handle.ts";
import { UsageError } from "../usage-error.ts";

export interface Selection {
  readonly modules: readonly LoadedModule[];
  readonly others: readonly LoadedModule[];
}

/**
 * Finds modules by the names of their files, with or without a folder and an ending.
 *
 * @throws UsageError when a name fits no module, or several.
 */
export function select(
  modules: readonly LoadedModule[],
  { names, all }: { readonly names: readonly string[]; readonly all: boolean },
): Selection {
  if (all && names.length > 0) throw new UsageError("--all is given with the name of a module: leave one out");
  if (all) return { modules, others: [] };
  if (names.length === 0)
    throw new UsageError("Say what to uninstall, such as `binnacle uninstall guestbook.ts`, or --all");
  const chosen = new Set<LoadedModule>();
  for (const name of names) {
    const matching = modules.filter((module) => namesOf(module).includes(name));
    const [first] = matching;
    if (first === undefined) {
      const suggestion = nearest(name, modules.flatMap(namesOf));
      const known = modules.map((module) => module.name).join(", ");
      throw new UsageError(
        `Cannot find the module '${name}'${suggestion === undefined ? `: there are ${known}` : `, did you mean '${suggestion}'?`}`,
      );
    }
    if (matching.length > 1)
      throw new UsageError(
        `Cannot tell which module '${name}' is: write one of ${matching.map((one) => one.name).join(", ")}`,
      );
    chosen.add(first);
  }
  return { modules: [...chosen], others: modules.filter((module) => !chosen.has(module)) };
}

function namesOf({ name, file }: LoadedModule): readonly string[] {
  const entry = name.slice(name.lastIndexOf("/") + 1);
  return [...new Set([name, entry, entry.replace(/\.[jt]s$/, ""), file])];
}

/** The kinds that only these modules define, and the names of modules that use one of them, by `groupKind`. */
export function definedKinds({ modules: chosen, others }: Selection): {
  readonly own: readonly Resource[];
  readonly shared: ReadonlyMap<string, string>;
} {
  const kinds = new Map<string, Resource>();
  for (const { definitions } of chosen)
    for (const resource of definitions.resources) kinds.set(groupKind(resource), resource);
  const shared = new Map<string, string>();
  for (const module of others) {
    for (const resource of kindsOf(module)) {
      if (kinds.has(groupKind(resource))) shared.set(groupKind(resource), module.name);
    }
  }
  return { own: [...kinds].flatMap(([id, resource]) => (shared.has(id) ? [] : [resource])), shared };
}

function kindsOf({ definitions }: LoadedModule): readonly Resource[] {
  const declared = definitions.controllers.map(declarationsOf);
  const watches = declared.flatMap(({ for: primary, owns, watches, reads }) => [
    ...(primary === undefined ? [] : [primary]),
    ...owns,
    ...watches,
    ...reads,
  ]);
  return [...definitions.resources, ...watches.map(({ resource }) => resource)];
}
