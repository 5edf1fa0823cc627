/** Which files of the controllers folders are modules. */
import { type Dirent, lstatSync, readdirSync, statSync } from "node:fs";
import { basename, join } from "node:path";
import { printable } from "../observe/printable.ts";

export interface FoundModule {
  /**
   * Unique among the modules of the process, short, and fit to be shown: the entry's name, after its folder when there are
   * several.
   */
  readonly name: string;
  /** The file to load. */
  readonly file: string;
  /** Of a module inside this executable: what stack traces name in place of its file, the module's own source first. */
  readonly origins?: readonly string[];
}

/** A controllers folder that cannot be used. */
export class FolderError extends Error {
  override readonly name = "UserError" as const;
}

/** What a path leads to; `undefined` for nothing at all. */
function kindOf(path: string): "file" | "folder" | "other" | undefined {
  try {
    const stat = statSync(path, { throwIfNoEntry: false }) ?? lstatSync(path, { throwIfNoEntry: false });
    return stat === undefined ? undefined : stat.isFile() ? "file" : stat.isDirectory() ? "folder" : "other";
  } catch {
    return "other"; // a link that leads in a circle, or to where we may not look
  }
}

function isPrivate(name: string): boolean {
  return name.startsWith("_") || name.startsWith(".");
}

/** Whether a file of this name, directly inside a controllers folder, is a module. */
export function isModuleFile(name: string): boolean {
  return !isPrivate(name) && /\.(ts|js)$/.test(name) && !/(\.test\.[tj]s|\.d\.ts)$/.test(name);
}

/** Whether a folder of this name with an index, directly inside a controllers folder, is a module. */
export function isModuleFolder(name: string): boolean {
  return !isPrivate(name);
}

/** The module behind an entry of a folder: a file, or a folder with an index. */
function moduleFile(folder: string, { name }: Dirent): string | undefined {
  if (isPrivate(name)) return undefined;
  const path = join(folder, name);
  // Entries of a ConfigMap mount are links: what they lead to decides.
  if (kindOf(path) === "folder") {
    return [join(path, "index.ts"), join(path, "index.js")].find((index) => ["file", "other"].includes(kindOf(index)!));
  }
  // What is no file, or a link that leads nowhere, is somebody's module: loading it says what is wrong.
  return isModuleFile(name) ? path : undefined;
}

/**
 * The modules of the folders, by name.
 *
 * @throws FolderError when a folder does not exist or cannot be read.
 */
export function scanFolders(folders: readonly string[]): readonly FoundModule[] {
  const found: FoundModule[] = [];
  for (const folder of new Set(folders)) {
    for (const entry of entriesOf(folder)) {
      const file = moduleFile(folder, entry);
      if (file === undefined) continue;
      found.push({ name: printable(folders.length > 1 ? join(folder, entry.name) : entry.name), file });
    }
  }
  return found.sort((a, b) => (a.name < b.name ? -1 : 1));
}

function entriesOf(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    if (code === "ENOENT") {
      throw new FolderError(
        `Cannot find the controllers folder '${folder}': create it, or name another with --controllers`,
      );
    }
    if (code === "ENOTDIR") {
      throw new FolderError(
        `Cannot use '${folder}' as a controllers folder: it is a file; name the folder that holds ${basename(folder)}`,
      );
    }
    throw new FolderError(
      `Cannot read the controllers folder '${folder}': ${error instanceof Error ? error.message : String(error)}`,
    );
  }
}
