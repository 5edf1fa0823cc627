/** Sources of Go modules, by Go's own client, and the tests of their packages as programs: both are kept in the cache of the user. */

import { existsSync } from "node:fs";
import { chmod, cp, mkdir, readdir, rename, rm } from "node:fs/promises";
import { homedir } from "node:os";
import { basename, join } from "node:path";
import { locked } from "../../scripts/controlplane/assets.ts";
import { outputOf, run } from "../node/programs.ts";
import type { GoModule } from "./modules.ts";

/** So that `-trimpath` builds of the same packages share what is compiled, every build has these flags. */
const GO_ENVIRONMENT = { CGO_ENABLED: "0" };

/** Where the suites keep what they fetch and build. */
export function suitesCache(...path: readonly string[]): string {
  return join(process.env["XDG_CACHE_HOME"] || join(homedir(), ".cache"), "binnacle", "suites", ...path);
}

/** A folder that `make` fills, and that is either complete or absent: it is made once, under another name at first. */
export async function madeOnce(folder: string, make: (aside: string) => Promise<void>): Promise<string> {
  if (existsSync(folder)) return folder;
  await locked(`${folder}.lock`, async () => {
    if (existsSync(folder)) return;
    const aside = `${folder}.${process.pid}`;
    await rm(aside, { recursive: true, force: true });
    await mkdir(aside, { recursive: true });
    try {
      await make(aside);
      await rename(aside, folder);
    } finally {
      await rm(aside, { recursive: true, force: true });
    }
  });
  return folder;
}

/** A folder with the sources of a module, which its tests may write to. @throws when the content is another than the pinned one */
export function moduleSources(module: GoModule): Promise<string> {
  return madeOnce(suitesCache(`${labelOf(module)}-sources`), async (folder) => {
    const name = `${module.path}@${module.version}`;
    // Outside a module: nothing else decides about the version.
    const { stdout } = await outputOf("go", ["mod", "download", "-json", name], { cwd: folder, env: { GOFLAGS: "" } });
    const { Dir: dir, Sum: sum, Error: error } = JSON.parse(stdout || "{}") as Record<string, string | undefined>;
    if (dir === undefined || error !== undefined)
      throw new Error(`Cannot fetch ${name}: ${error ?? "go says nothing"}`);
    if (sum !== module.sum) throw new Error(`Cannot use ${name}: its hash is ${sum}, and ${module.sum} is expected`);
    await cp(dir, folder, { recursive: true });
    for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
      // A module cannot be written in Go's cache, and the proxy gives no modes.
      const isProgram = entry.isDirectory() || entry.name.endsWith(".sh");
      await chmod(join(entry.parentPath, entry.name), isProgram ? 0o755 : 0o644);
    }
  });
}

/** Compiles one program of a Go module into a file. @param kind its tests, or the program itself */
export async function compiled(
  file: string,
  {
    source,
    package: path,
    kind = "tests",
  }: { readonly source: string; readonly package: string; readonly kind?: "tests" | "program" },
): Promise<string> {
  if (existsSync(file)) return file;
  await locked(`${file}.lock`, async () => {
    if (existsSync(file)) return;
    const aside = `${file}.${process.pid}`;
    const command = kind === "tests" ? ["test", "-vet=off", "-c"] : ["build"];
    console.log(`Building ${basename(file)} with Go, once`);
    await run("go", [...command, "-trimpath", "-ldflags", "-s -w", "-o", aside, path], {
      cwd: source,
      env: GO_ENVIRONMENT,
    });
    await rename(aside, file);
  });
  return file;
}

/** Such as `jobset-v0.10.1`. */
export function labelOf({ path, version }: GoModule): string {
  return `${nameOf(path)}-${version}`;
}

/** The last word of a module's path that is no version. */
export function nameOf(path: string): string {
  return basename(path.replace(/\/v\d+$/, ""));
}
