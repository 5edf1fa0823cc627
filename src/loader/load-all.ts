/** Loads every module of the controllers folders. */
import { offerModules } from "#runtime/module-host";
import { keepIntrinsics } from "../platform/intrinsics.ts";
import { guardProcess } from "../platform/process-guard.ts";
import { type Loaded, type LoadOptions, loadModule } from "./load.ts";
import { type ModuleEntry, FolderError, scanFolders } from "./scan.ts";

/** Returns the modules of the folders. @throws FolderError for a folder that cannot be read, and without a module. */
export function findModules(folders: readonly string[]): readonly ModuleEntry[] {
  const entries = scanFolders(folders);
  if (entries.length === 0) {
    throw new FolderError(
      `Cannot find a module in ${folders.map((folder) => `'${folder}'`).join(" or ")}: put a .ts or .js file, or a folder with an ` +
        "index.ts, into it (names that begin with '_' or '.', *.test.ts and *.d.ts do not count)",
    );
  }
  return entries;
}

/** Offers the binary's packages and begins to load all modules; the result of a broken module has the reason. */
export function loadAll(entries: readonly ModuleEntry[], options: LoadOptions): readonly Promise<Loaded>[] {
  guardProcess();
  keepIntrinsics();
  offerModules(options.offered);
  return entries.map(async (one) => ({ entry: one, result: await loadModule(one, options) }));
}
