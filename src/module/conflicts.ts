/** Finds conflicts of modules: names of controllers and plugins, kinds with two schemas, and paths of webhooks. */
import { controllerName } from "../controller/declarations.ts";
import { crdOf } from "../resource/crd.ts";
import { groupKind } from "../resource/handle.ts";
import { type DeclaredWebhook, declaredWebhooks, sharingProblem } from "../webhook/declared-webhook.ts";
import type { AnyWebhook } from "../webhook/definition.ts";
import type { ModuleDefinitions } from "./module-definitions.ts";

export interface Claimant {
  readonly file: string;
  readonly definitions: ModuleDefinitions;
}

/** Thrown for a module that cannot run beside another one. */
class ModuleConflict extends Error {
  override readonly name = "ModuleConflict" as const;
}

/** Whether a module was refused only because of another one. */
export function isConflict(error: unknown): boolean {
  return error instanceof ModuleConflict;
}

function places(a: string, b: string): string {
  return a === b ? `twice in ${a}` : `in ${a} and in ${b}`;
}

/** Checks that modules can run beside each other. @throws ModuleConflict that names both files. */
export function checkConflicts(modules: Iterable<Claimant>): void {
  const names = new Map<string, string>();
  const plugins = new Map<string, string>();
  const webhooks = new Map<string, ClaimedPath>();
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
    for (const webhook of definitions.webhooks) takePaths(webhook, file, webhooks);
    for (const resource of definitions.resources) {
      const crd = JSON.stringify(crdOf(resource)); // equal definitions have equal text
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

/** A path of the webhook listener, and the definition that took it first. */
interface ClaimedPath {
  readonly file: string;
  readonly declared: DeclaredWebhook;
}

/** Definitions without a name share the path of their kind, if they are registered in the same way. */
function takePaths(webhook: AnyWebhook, file: string, taken: Map<string, ClaimedPath>): void {
  for (const declared of declaredWebhooks(webhook)) {
    const { path } = declared;
    const other = taken.get(path);
    if (other === undefined) {
      taken.set(path, { file, declared });
      continue;
    }
    if (webhook.name !== undefined) {
      throw new ModuleConflict(
        `Two webhooks are called '${webhook.name}', ${places(other.file, file)}: rename one of them`,
      );
    }
    const option = sharingProblem(other.declared, declared);
    if (option === undefined) continue;
    throw new ModuleConflict(
      `Two webhooks for ${webhook.for!.kind} differ in '${option}', ${places(other.file, file)}: ` +
        "give one of them a 'name', which gives it a registration of its own",
    );
  }
}
