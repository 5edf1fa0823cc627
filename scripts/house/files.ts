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
    (file) => file.startsWith(`${folder}/`) && /\.tsx?$/.test(file) && !file.endsWith(".d.ts"),
  );
  return new Map(files.map((file) => [file, parseModule(readFileSync(join(root, file), "utf8"))]));
}

/** The runtimes, each with a folder that holds its implementation of `#platform/…`, and but for Node of `#runtime/…`. */
export const runtimes: readonly string[] = ["bun", "deno", "node"];

/** The folder of the API server, which is a package of its own. */
export const apiServer = "packages/apiserver/src";

/** What the package of the API server exports, as its `package.json` says. */
export const serverEntries: Readonly<Record<string, string>> = {
  "binnacle-apiserver": `${apiServer}/index.ts`,
  "binnacle-apiserver/certificates": `${apiServer}/certificates/certificate.ts`,
};

/** Folders of the program's code. */
export const houses: readonly string[] = ["src", apiServer];

/** Returns the TypeScript files of the program's code, tests included. */
export function houseModules(root: string): Map<string, Module> {
  return new Map(houses.flatMap((folder) => [...modulesIn(root, folder)]));
}

/** Whether a file belongs to the program: tests do not. */
export function isProgram(file: string): boolean {
  return houses.some((folder) => file.startsWith(`${folder}/`)) && /\.tsx?$/.test(file) && !isTest(file);
}

/** What stands for a folder of each runtime in imports. */
const parts: Readonly<Record<string, string>> = {
  "#runtime/": "src/platform",
  "#platform/": `${apiServer}/platform`,
};

/** Returns the file of each runtime that an import such as `#runtime/digest` stands for; none for other imports. */
export function partFiles(from: string): string[] {
  const [alias, folder] = Object.entries(parts).find(([alias]) => from.startsWith(alias)) ?? [];
  if (alias === undefined) return [];
  return runtimes.map((runtime) => `${folder}/${runtime}/${from.slice(alias.length)}.ts`);
}

/**
 * Returns the file that an import names, relative to the project: by a relative path, by the name of a package of this
 * repository, or as `#runtime/…`, which is the file of the runtime in whose folder the importing file is, and of the first
 * runtime elsewhere.
 */
export function resolveImport(file: string, from: string): string | undefined {
  const [first, ...others] = partFiles(from);
  if (first !== undefined) {
    const runtime = runtimes.find((name) => file.includes(`/platform/${name}/`));
    return others.find((name) => name.includes(`/platform/${runtime}/`)) ?? first;
  }
  if (Object.hasOwn(serverEntries, from)) return serverEntries[from];
  return from.startsWith(".") ? join(file, "..", from) : undefined;
}
