/** The runtime for a machine other than this one, from the registry of npm. */
import { access, chmod, copyFile, mkdir, mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { runTool } from "#runtime/self";
import { BuildError, writing } from "../build-error.ts";
import { markUsed } from "../unused.ts";
import { RUNTIME_VERSION, type Target } from "./targets.ts";

export interface RuntimeOptions {
  /** The folder in which runtimes are cached. */
  readonly cache: string;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Returns the executable of the runtime for a target, installed once by the package manager in this program: it knows
 * the user's registry, proxy and tokens, and compares the download with the hash in the lock file that is written here.
 *
 * @throws BuildError
 */
export async function runtimeFor(target: Target, { cache, signal }: RuntimeOptions): Promise<string> {
  const file = target.os === "windows" ? "bun.exe" : "bun";
  const folder = join(cache, `runtime-${RUNTIME_VERSION}-${target.name}`);
  const cached = join(folder, file);
  if (await exists(cached)) {
    await markUsed(folder);
    return cached;
  }
  const aside = await writing(cache, async () => {
    await mkdir(cache, { recursive: true, mode: 0o700 });
    return mkdtemp(join(cache, "runtime-"));
  });
  try {
    await writeManifest(aside, target);
    // The registry in the project's .npmrc counts here too, as when its packages are installed.
    await copyFile(".npmrc", join(aside, ".npmrc")).catch(() => {});
    const { status, stderr, stdout } = await runTool(
      ["install", "--frozen-lockfile", "--ignore-scripts", "--no-progress", "--cpu", target.cpu, "--os", npmOs(target)],
      // The cache is a separate one, because files in the user's cache are not compared with the hash again.
      { signal, cwd: aside, env: { BUN_INSTALL_CACHE_DIR: join(aside, "cache") } },
    );
    signal?.throwIfAborted();
    const installed = join(aside, "node_modules", ...target.runtime.split("/"), "bin", file);
    if (status !== 0 || !(await exists(installed))) throw failure(target, `${stderr}\n${stdout}`);
    await chmod(installed, 0o755);
    await mkdir(join(aside, "done"));
    await rename(installed, join(aside, "done", file));
    await rename(join(aside, "done"), folder).catch(async (error: unknown) => {
      if (!(await exists(cached))) throw error; // another process was first
    });
    return cached;
  } finally {
    await rm(aside, { recursive: true, force: true });
  }
}

async function writeManifest(folder: string, { runtime, integrity, os, cpu }: Target): Promise<void> {
  const dependencies = { [runtime]: RUNTIME_VERSION };
  const manifest = { name: "runtime", dependencies };
  const lock = {
    lockfileVersion: 1,
    workspaces: { "": manifest },
    packages: {
      [runtime]: [`${runtime}@${RUNTIME_VERSION}`, "", { os: os === "windows" ? "win32" : os, cpu }, integrity],
    },
  };
  await writeFile(join(folder, "package.json"), JSON.stringify(manifest));
  await writeFile(join(folder, "bun.lock"), JSON.stringify(lock));
}

function npmOs({ os }: Target): string {
  return os === "windows" ? "win32" : os;
}

function failure({ runtime, name }: Target, output: string): BuildError {
  const lines = output.split("\n").filter((line) => line.startsWith("error:"));
  const problem =
    lines.map((line) => line.replace(/^error:\s*/, "").trim())[0] ?? "the package manager brought nothing";
  const what = `Cannot build for ${name}: the runtime ${runtime}@${RUNTIME_VERSION} cannot be had from the registry of npm`;
  return new BuildError(`${what}: ${problem}`);
}

async function exists(file: string): Promise<boolean> {
  return access(file).then(
    () => true,
    () => false,
  );
}
