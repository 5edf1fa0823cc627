/** What two modules cannot both have: a controller name, and a kind with two schemas. */
import { controllerName } from "../controller/declarations.ts";
import { crdOf } from "../resource/crd.ts";
import { groupKind } from "../resource/handle.ts";
import type { ModuleDefinitions } from "./module-definitions.ts";

export interface Claimant {
  readonly file: string;
  readonly definitions: ModuleDefinitions;
}

/** A module that cannot run beside another. */
class ModuleConflict extends Error {
  override readonly name = "ModuleConflict" as const;
}

function places(a: string, b: string): string {
  return a === b ? `twice in ${a}` : `in ${a} and in ${b}`;
}

/**
 * Checks that modules can run beside each other.
 *
 * @throws ModuleConflict that names both files.
 */
export function checkConflicts(modules: Iterable<Claimant>): void {
  const names = new Map<string, string>();
  const plugins = new Map<string, string>();
  const kinds = new Map<string, { readonly file: string; readonly crd: string }>();
  for (const { file, definitions } of modules) {
    for (const controller of definitions.controllers) {
      const name = controllerName(controller);
      const other = names.get(name);
      if (other !== undefined) {
        throw new ModuleConflict(
          `Two controllers are called '${name}', ${places(other, file)}: give one of them another 'name'`,
        );
      }
      names.set(name, file);
    }
    for (const { name } of definitions.plugins) {
      const other = plugins.get(name);
      if (other !== undefined)
        throw new ModuleConflict(`Two plugins are called '${name}', ${places(other, file)}: rename one of them`);
      plugins.set(name, file);
    }
    for (const resource of definitions.resources) {
      const crd = JSON.stringify(crdOf(resource)); // equal definitions give equal text
      const other = kinds.get(groupKind(resource));
      if (other === undefined) kinds.set(groupKind(resource), { file, crd });
      else if (other.crd !== crd) {
        throw new ModuleConflict(
          `The kind ${resource.kind} of ${resource.group} is defined differently, ${places(other.file, file)}: ` +
            "define it once and import it, from a file that begins with '_' or from the other module",
        );
      }
    }
  }
}
