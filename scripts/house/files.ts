/** The project's own files: what git tracks or would track. */

import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type Module, parseModule } from "./module.ts";

/** Relative paths of all files that are there and not ignored, sorted. */
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

/** The TypeScript files below a folder, declarations of foreign modules aside, with what they import and export. */
export function modulesIn(root: string, folder: string): Map<string, Module> {
  const files = projectFiles(root).filter(
    (file) => file.startsWith(`${folder}/`) && file.endsWith(".ts") && !file.endsWith(".d.ts"),
  );
  return new Map(files.map((file) => [file, parseModule(readFileSync(join(root, file), "utf8"))]));
}

/** The file that a relative import names, relative to the project. */
export function resolveImport(file: string, from: string): string | undefined {
  return from.startsWith(".") ? join(file, "..", from) : undefined;
}
