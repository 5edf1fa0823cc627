/** Finds the modules in the controllers folders. */
import { type Dirent, lstatSync, readdirSync, statSync } from "node:fs";
import { basename, join } from "node:path";
import { printable } from "../observe/printable.ts";

export interface ModuleEntry {
  /** A short, printable and unique name: the entry's, with the folder's in front when there are several folders. */
  readonly name: string;
  /** The file to load. */
  readonly file: string;
  /** For a module inside this executable: the paths in stack traces, the module's own source first. */
  readonly origins?: readonly string[];
}

/** Thrown for a controllers folder that cannot be used. */
export class FolderError extends Error {
  override readonly name = "UserError" as const;
}

/** Returns the type of a path's target; `undefined` when there is none. */
function kindOf(path: string): "file" | "folder" | "other" | undefined {
  try {
    const stat = statSync(path, { throwIfNoEntry: false }) ?? lstatSync(path, { throwIfNoEntry: false });
    return stat === undefined ? undefined : stat.isFile() ? "file" : stat.isDirectory() ? "folder" : "other";
  } catch {
    return "other"; // a circular link, or one to a place without access
  }
}

function isPrivate(name: string): boolean {
  return name.startsWith("_") || name.startsWith(".");
}

/** Whether a file with this name, directly inside a controllers folder, is a module. */
export function isModuleFile(name: string): boolean {
  return !isPrivate(name) && /\.(ts|js)$/.test(name) && !/(\.test\.[tj]s|\.d\.ts)$/.test(name);
}

/** Whether a folder with this name and an index, directly inside a controllers folder, is a module. */
export function isModuleFolder(name: string): boolean {
  return !isPrivate(name);
}

/** Returns the module of a folder's entry: a file, or a folder with an index. */
function moduleFile(folder: string, { name }: Dirent): string | undefined {
  if (isPrivate(name)) return undefined;
  const path = join(folder, name);
  // Entries of a ConfigMap mount are links, so their targets decide.
  if (kindOf(path) === "folder") {
    return [join(path, "index.ts"), join(path, "index.js")].find((index) => ["file", "other"].includes(kindOf(index)!));
  }
  // Anything but a file, or a dangling link, counts as a module, so that loading reports the problem.
  return isModuleFile(name) ? path : undefined;
}

/** Returns the modules of the folders, ordered by name. @throws FolderError for one that cannot be read. */
export function scanFolders(folders: readonly string[]): readonly ModuleEntry[] {
  const modules: ModuleEntry[] = [];
  for (const folder of new Set(folders)) {
    for (const entry of entriesOf(folder)) {
      const file = moduleFile(folder, entry);
      if (file === undefined) continue;
      modules.push({ name: printable(folders.length > 1 ? join(folder, entry.name) : entry.name), file });
    }
  }
  return modules.sort((a, b) => (a.name < b.name ? -1 : 1));
}

function entriesOf(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch (error) {
    throw new FolderError(problemOf(folder, error));
  }
}

function problemOf(folder: string, error: unknown): string {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  if (code === "ENOENT") {
    const advice = folder.includes(",")
      ? "name several folders with --controllers once for each"
      : "create it, or name another with --controllers";
    return `Cannot find the controllers folder '${folder}': ${advice}`;
  }
  if (code === "ENOTDIR") {
    return `Cannot use '${folder}' as a controllers folder: it is a file; name the folder that holds ${basename(folder)}`;
  }
  return `Cannot read the controllers folder '${folder}': ${error instanceof Error ? error.message : String(error)}`;
}
