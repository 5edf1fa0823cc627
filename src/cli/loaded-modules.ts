/** Loads the modules of the controllers folders without a cluster, for `check` and `manifests`. */
import { findModules, loadAll } from "../loader/load-all.ts";
import { configFaults, loadConfigOf } from "../loader/module-config.ts";
import { scanFolders } from "../loader/scan.ts";
import { checkConflicts } from "../module/conflicts.ts";
import type { ModuleConfig } from "../module/config/config.ts";
import { type ConfigSources, NO_SOURCES } from "../module/config/sources.ts";
import type { LoadedModule } from "../module/loaded-module.ts";
import { requirementProblems } from "../module/plugin-order.ts";
import { printable } from "../observe/printable.ts";
import { messageOf } from "../platform/error-message.ts";
import type { Host } from "./command.ts";

export interface LoadedModules {
  readonly modules: readonly LoadedModule[];
  /** One message for each module that has a problem. */
  readonly problems: readonly string[];
  /** The files of all modules, including broken ones. */
  readonly files: readonly string[];
  /** The configurations that each module has declared, by the file in {@link LoadedModule}. */
  readonly configs: ReadonlyMap<string, readonly ModuleConfig[]>;
  /** Faults of the configuration, apart from missing values. */
  readonly configFaults: readonly string[];
}

export interface LoadModulesOptions {
  /** @default false */
  readonly mayBeNone?: boolean;
  /** The sources of the modules' configuration. @default none */
  readonly sources?: ConfigSources;
}

/**
 * Loads the modules. @throws FolderError when a folder does not exist, or when there are no modules and that is not
 * allowed.
 */
export async function loadModules(
  folders: readonly string[],
  { embedded }: Pick<Host, "embedded">,
  { mayBeNone = false, sources = NO_SOURCES }: LoadModulesOptions = {},
): Promise<LoadedModules> {
  const inside = folders.length === 0 ? embedded.operator?.modules : undefined;
  const entries = inside ?? (mayBeNone ? scanFolders(folders) : findModules(folders));
  const problems: string[] = [];
  const onError = (module: string, error: unknown): void => {
    problems.push(`${module}: ${messageOf(error)}`);
  };
  const offered = await embedded.offered();
  const config = loadConfigOf(sources, entries);
  const loaded = await Promise.all(loadAll(entries, { offered, version: embedded.version, onError, config }));
  const modules: LoadedModule[] = [];
  for (const { entry, result } of loaded) {
    const file = printable(entry.file);
    if ("module" in result) modules.push(result.module);
    else problems.push(result.broken.startsWith(file) ? result.broken : `${file}: ${result.broken}`);
  }
  try {
    checkConflicts(modules);
  } catch (error) {
    problems.push(messageOf(error));
  }
  problems.push(...requirementProblems(modules));
  return {
    modules,
    problems,
    files: entries.map(({ file }) => file),
    configs: new Map(
      loaded.flatMap(({ result }) => ("module" in result ? [[result.module.file, result.configs]] : [])),
    ),
    configFaults: configFaults(loaded, sources, { isComplete: false }),
  };
}
