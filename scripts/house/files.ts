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
  return /\.test\.ts$|\/testdata\//.test(file);
}

/** Returns the TypeScript files below a folder, except declarations of foreign modules, with their imports and exports. */
export function modulesIn(root: string, folder: string): Map<string, Module> {
  const files = projectFiles(root).filter(
    (file) => file.startsWith(`${folder}/`) && file.endsWith(".ts") && !file.endsWith(".d.ts"),
  );
  return new Map(files.map((file) => [file, parseModule(readFileSync(join(root, file), "utf8"))]));
}

/** Returns the file that a relative import names, relative to the project. */
export function resolveImport(file: string, from: string): string | undefined {
  return from.startsWith(".") ? join(file, "..", from) : undefined;
}
