/** Names a configuration after the module whose file declares it, whichever module imports that file. */
import { realpathSync } from "node:fs";
import { basename, dirname } from "node:path";
import type { ModuleEntry } from "./scan.ts";

/** The name of a module without its folder and its ending: `guestbook`. */
export function configName({ name }: Pick<ModuleEntry, "name">): string {
  return basename(name).replace(/\.[tj]s$/, "");
}

/** The place of a module's code, as stack traces name it. */
interface Home {
  readonly file: string;
  /** The folder, for a module that is one. */
  readonly folder: string | undefined;
  readonly name: string;
}

/**
 * Returns a function that names a configuration which `own` declares by a call in these files, innermost first. A file
 * of no module, such as one that begins with `_`, counts as one of the loaded module.
 */
export function configNames(
  entries: readonly ModuleEntry[],
): (own: ModuleEntry) => (files: readonly string[]) => string {
  let homes: readonly Home[] | undefined;
  return (own) => (files) => {
    homes ??= entries.map(homeOf);
    for (const file of files) {
      const home = homes.find((one) => one.file === file || isBelow(file, one.folder));
      if (home !== undefined) return home.name;
    }
    return configName(own);
  };
}

function homeOf(entry: ModuleEntry): Home {
  const file = entry.origins?.[0] ?? realPath(entry.file);
  const folder = /^index\.[tj]s$/.test(basename(file)) ? dirname(file) : undefined;
  return { file, folder, name: configName(entry) };
}

/** Whether a file is in the folder of a module. A bundled module is in a folder named like its file. */
function isBelow(file: string, folder: string | undefined): boolean {
  return folder !== undefined && (file === folder || file.startsWith(`${folder}/`));
}

function realPath(file: string): string {
  try {
    return realpathSync(file);
  } catch {
    return file;
  }
}
