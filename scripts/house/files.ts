/** The project's own files: what git tracks or would track. */

import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type Module, parseModule } from "./module.ts";

/** Returns relative paths of all existing files that are not ignored, sorted. */
export function projectFiles(root: string): string[] {
  const list = ["ls-files", "-z", "--cached", "--others", "--exclude-standard"];
  const { status, stdout, stderr } = spawnSync("git", list, { cwd: root, encoding: "utf8", maxBuffer: 2 ** 28 });
  if (status !== 0) throw new Error(`Cannot list the files of ${root}: git says ${stderr}`);
  const names = new Set(stdout.split("\0").filter((name) => name !== ""));
  return [...names].filter((name) => existsSync(join(root, name))).sort();
}

export function isTest(file: string): boolean {
  return /\.test(\.deno)?\.ts$|\/testdata\//.test(file);
}

/** Returns the TypeScript files below a folder, except declarations of foreign modules, with their imports and exports. */
export function modulesIn(root: string, folder: string): Map<string, Module> {
  const files = projectFiles(root).filter(
    (file) => file.startsWith(`${folder}/`) && file.endsWith(".ts") && !file.endsWith(".d.ts"),
  );
  return new Map(files.map((file) => [file, parseModule(readFileSync(join(root, file), "utf8"))]));
}

/** The runtimes, each with a folder that holds its implementation of `#runtime/…`. */
export const runtimes: readonly string[] = ["bun", "deno"];

/**
 * Returns the file that an import names, relative to the project: by a relative path, or as `#runtime/…`, which is the file
 * of the runtime in whose folder the importing file is, and of the first runtime elsewhere.
 */
export function resolveImport(file: string, from: string): string | undefined {
  if (from.startsWith(PART)) {
    const own = runtimes.find((runtime) => file.startsWith(`src/platform/${runtime}/`)) ?? runtimes[0]!;
    return `src/platform/${own}/${from.slice(PART.length)}.ts`;
  }
  return from.startsWith(".") ? join(file, "..", from) : undefined;
}

const PART = "#runtime/";
