/** A tree to release from: the sources of a checkout, and the packages that its lock file names, which nobody has touched. */
import { spawn, spawnSync } from "node:child_process";
import { chmodSync, copyFileSync, cpSync, existsSync, mkdirSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { text } from "node:stream/consumers";
import { hostTarget, RUNTIME_VERSION } from "../../src/build/executable/targets.ts";
import { sourceOf } from "./version.ts";

/** What is no source where there is no repository that says so. */
const noSources: readonly string[] = ["node_modules", "dist", ".binnacle"];

/**
 * Copies the sources to a folder that is not there yet, and installs into it what `bun.lock` names. With the repository comes what
 * differs from the commit, so that the version is the same. Packages are downloaded once more, because only what is downloaded is compared with the
 * hashes of the lock file: neither `node_modules` nor the cache of the package manager is.
 *
 * @param cache an empty folder for what is downloaded.
 * @throws Error where git or the package manager fails, as for a lock file that does not fit `package.json`.
 */
export async function freshTree(
  root: string,
  { tree, cache }: { readonly tree: string; readonly cache: string },
): Promise<void> {
  copySources(root, tree);
  const child = spawn(process.execPath, ["install", "--frozen-lockfile", "--ignore-scripts", "--no-progress"], {
    cwd: tree,
    env: { ...process.env, BUN_INSTALL_CACHE_DIR: cache },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const output = Promise.all([text(child.stdout), text(child.stderr)]);
  const status = await new Promise<number | null>((resolve, reject) =>
    child.once("error", reject).once("exit", resolve),
  );
  if (status === 0) return;
  const lines = (await output).join("\n").split("\n");
  const why = lines.filter((line) => line.startsWith("error:")).map((line) => line.slice("error:".length).trim());
  throw new Error(
    `Cannot release: the packages of bun.lock cannot be installed: ${why.join("; ") || `it ended with ${status}`}`,
  );
}

/** The runtime in a tree, which is a package of the lock file, too. */
export function bunOf(tree: string): string {
  const host = hostTarget();
  const bun =
    host && join(tree, "node_modules", ...host.runtime.split("/"), "bin", host.os === "windows" ? "bun.exe" : "bun");
  if (bun === undefined || !existsSync(bun)) {
    throw new Error(
      `Cannot release: bun.lock has no Bun ${RUNTIME_VERSION} for this machine, so release on another one`,
    );
  }
  chmodSync(bun, 0o755);
  return bun;
}

function copySources(root: string, tree: string): void {
  const source = sourceOf(root);
  if (source === undefined) {
    // As in an archive of the sources.
    const filter = (file: string): boolean => !noSources.some((name) => file === join(root, name));
    cpSync(root, tree, { recursive: true, filter, verbatimSymlinks: true });
    return;
  }
  git(dirname(tree), "clone", "--quiet", "--shared", "--no-checkout", root, tree);
  git(tree, "checkout", "--quiet", "--detach", source.commit);
  if (source.isClean) return;
  const changed = git(root, "diff", "--name-only", "--no-renames", "-z", "HEAD");
  const added = git(root, "ls-files", "-z", "--others", "--exclude-standard");
  for (const file of `${changed}${added}`.split("\0").filter((name) => name !== "")) {
    const [from, to] = [join(root, file), join(tree, ...file.split("/"))];
    rmSync(to, { recursive: true, force: true });
    if (!existsSync(from)) continue;
    mkdirSync(dirname(to), { recursive: true });
    copyFileSync(from, to);
  }
}

function git(folder: string, ...args: string[]): string {
  const { status, stdout, stderr, error } = spawnSync("git", args, {
    cwd: folder,
    encoding: "utf8",
    maxBuffer: 2 ** 28,
  });
  if (error) throw error;
  if (status !== 0) throw new Error(`Cannot release: git ${args[0]} says ${stderr.trim()}`);
  return stdout;
}
