/** The programs of a control plane: from KUBEBUILDER_ASSETS, or built once with Go and kept outside the repository. */

import { spawn, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, readFile, rename, rm, symlink, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { basename, dirname, join } from "node:path";

const source = import.meta.dirname;
/** One binary acts as the program by whose name it is called: see main.go. */
const programs = ["etcd", "kube-apiserver", "kube-controller-manager", "kubectl"];

/**
 * Returns the folder with etcd, kube-apiserver, kube-controller-manager and kubectl; undefined when none is given and
 * there is no Go to build it.
 */
export async function assets(): Promise<string | undefined> {
  const own = process.env.KUBEBUILDER_ASSETS;
  if (own) {
    for (const program of ["etcd", "kube-apiserver"]) {
      if (!existsSync(join(own, program))) {
        throw new Error(
          `KUBEBUILDER_ASSETS is ${own}, but there is no ${program}: point it at a folder of envtest, or unset it to build with Go`,
        );
      }
    }
    return own;
  }
  const folder = await cacheFolder();
  if (existsSync(folder)) return folder;
  if (spawnSync("go", ["version"], { stdio: "ignore" }).status !== 0) return undefined;
  await locked(`${folder}.lock`, async () => {
    if (!existsSync(folder)) await build(folder);
  });
  return folder;
}

/** Each state of the Go program has its own folder, so that a newer checkout never runs an older build. */
async function cacheFolder(): Promise<string> {
  const hash = createHash("sha256");
  for (const file of ["go.mod", "go.sum", "main.go"]) hash.update(await readFile(join(source, file)));
  const cache = process.env.XDG_CACHE_HOME || join(homedir(), ".cache");
  return join(cache, "binnacle", `controlplane-${await version()}-${hash.digest("hex").slice(0, 12)}`);
}

async function version(): Promise<string> {
  const release = /k8s\.io\/kubernetes (v1\.\d+\.\d+)/.exec(await readFile(join(source, "go.mod"), "utf8"));
  if (!release?.[1]) throw new Error(`${join(source, "go.mod")} requires no k8s.io/kubernetes`);
  return release[1];
}

/** Builds in another folder and renames it, so that the folder is either complete or absent. */
async function build(folder: string): Promise<void> {
  const git = await version();
  console.error(`Building kube-apiserver ${git} with Go, once, into ${folder} (about 4 minutes)`);
  const aside = `${folder}.${process.pid}`;
  await mkdir(aside, { recursive: true });
  try {
    const variables = { gitVersion: git, gitMajor: "1", gitMinor: git.split(".")[1] };
    const linked = Object.entries(variables).map(([name, set]) => `-X k8s.io/component-base/version.${name}=${set}`);
    const flags = ["-trimpath", "-ldflags", ["-s -w", ...linked].join(" "), "-o", join(aside, "controlplane")];
    await run("go", ["build", ...flags, "."]);
    for (const program of programs) await symlink("controlplane", join(aside, program));
    await rename(aside, folder).catch((error: unknown) => {
      if (!existsSync(folder)) throw error;
    });
  } finally {
    await rm(aside, { recursive: true, force: true });
  }
}

async function run(command: string, args: readonly string[]): Promise<void> {
  const child = spawn(command, args, {
    cwd: source,
    stdio: ["ignore", 2, 2],
    env: { ...process.env, CGO_ENABLED: "0" },
  });
  const code = await new Promise<number | null>((resolve, reject) => child.once("error", reject).once("exit", resolve));
  if (code !== 0) throw new Error(`Cannot build the control plane: ${basename(command)} ${args[0]} ended with ${code}`);
}

/** Runs `work` in one process at a time; the lock of a process that is gone does not count. */
export async function locked(file: string, work: () => Promise<void>): Promise<void> {
  await mkdir(dirname(file), { recursive: true });
  while (!(await take(file))) {
    const holder = Number(await readFile(file, "utf8").catch(() => ""));
    if (holder > 0 && !alive(holder)) await rm(file, { force: true });
    else await Bun.sleep(200);
  }
  try {
    await work();
  } finally {
    await rm(file, { force: true });
  }
}

async function take(file: string): Promise<boolean> {
  try {
    await writeFile(file, String(process.pid), { flag: "wx" });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  }
}

function alive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== "ESRCH";
  }
}
