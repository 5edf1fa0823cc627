/** Determines the definitions of `runModule`, with the kinds that `run` and `dev` would register as well. */
import { basename, dirname } from "node:path";
import { loadedFiles } from "#runtime/loaded-files";
import { declarationsOf } from "../controller/declarations.ts";
import type { AnyController } from "../controller/definition.ts";
import { isModuleFile, isModuleFolder } from "../loader/scan.ts";
import { collectDefinitions, definitionsOf, type ModuleDefinitions } from "../module/module-definitions.ts";
import type { LoadedFile } from "../platform/loaded-files.ts";
import { definitionOf } from "../resource/definition.ts";
import type { AnyWebhook } from "../webhook/definition.ts";
import { groupKind, type Resource } from "../resource/handle.ts";

/**
 * Returns the definitions of the argument, or those of a module's exports, with the kinds that the controllers and
 * webhooks name if modules in the same folder export them. A controller that the test itself defines is exported by no
 * module, so all its kinds are added.
 *
 * @throws TypeError when there is no definition.
 */
export function definitionsUnderTest(module: object): ModuleDefinitions {
  const definitions = ownDefinitions(module);
  const { controllers, webhooks, resources } = definitions;
  const naming = [...controllers, ...webhooks];
  const files = naming.length === 0 ? [] : [...loadedFiles()];
  const needed = naming.flatMap((one) => {
    const home = files.find(({ exports }) => {
      const exported = collectDefinitions(exports);
      return [...exported.controllers, ...exported.webhooks].includes(one);
    });
    const kinds = controllers.includes(one as AnyController)
      ? ownKinds(one as AnyController)
      : kindsOfWebhook(one as AnyWebhook);
    if (home === undefined) return kinds;
    const exported = collectDefinitions(neighbours(home.file, files).flatMap(({ exports }) => exports)).resources;
    return kinds.filter((kind) => exported.includes(kind));
  });
  const byKind = new Map([...needed, ...resources].map((resource) => [groupKind(resource), resource]));
  return { ...definitions, resources: [...byKind.values()] };
}

function ownDefinitions(module: object): ModuleDefinitions {
  const definitions = collectDefinitions([module]);
  const isNone = Object.values(definitions).every((some: readonly unknown[]) => some.length === 0);
  return isNone ? definitionsOf(module as Readonly<Record<string, unknown>>) : definitions;
}

/** Returns the kind of `defineResource` that a webhook is for. */
function kindsOfWebhook({ for: resource }: AnyWebhook): readonly Resource[] {
  return resource !== undefined && definitionOf(resource) !== undefined ? [resource] : [];
}

/** Returns the kinds of `defineResource` that a controller declares. */
export function ownKinds(controller: AnyController): readonly Resource[] {
  const { for: primary, owns, watches, reads } = declarationsOf(controller);
  const watched = [...(primary === undefined ? [] : [primary]), ...owns, ...watches, ...reads];
  return watched.map(({ resource }) => resource).filter((resource) => definitionOf(resource) !== undefined);
}

/** Returns the loaded modules of the controllers folder that contains the file: files, and folders with an index. */
function neighbours(file: string, files: readonly LoadedFile[]): readonly LoadedFile[] {
  const folders = [dirname(file)];
  if (isIndex(file)) folders.push(dirname(dirname(file)));
  return files.filter((other) => {
    const folder = dirname(other.file);
    if (folders.includes(folder)) return isModuleFile(basename(other.file));
    return isIndex(other.file) && folders.includes(dirname(folder)) && isModuleFolder(basename(folder));
  });
}

function isIndex(file: string): boolean {
  return /^index\.[tj]s$/.test(basename(file));
}
