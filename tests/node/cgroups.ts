/** The control groups of a node: one in each hierarchy of cgroup v1, below those that this process is in. */

import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, rmdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { until } from "../support/until.ts";

/** Makes the groups, and tells each as soon as it is there. Limits of this process hold for the node, too. */
export async function* makeGroups(): AsyncIterable<string> {
  const own = (await readFile("/proc/self/cgroup", "utf8")).split("\n").map((line) => line.split(":"));
  for (const line of (await readFile("/proc/mounts", "utf8")).split("\n")) {
    const [, mount = "", type, options = ""] = line.split(" ");
    if (type !== "cgroup" || !mount.startsWith("/sys/fs/cgroup/")) continue;
    const names = options.split(",");
    const [, , path = "/"] = own.find(([, of = ""]) => of !== "" && names.includes(of.split(",")[0]!)) ?? [];
    const group = join(mount, path, `node-${process.pid}-${Date.now().toString(36)}`);
    await mkdir(group);
    yield group;
    // A group without processors and memory nodes cannot hold a process.
    for (const file of ["cpuset.cpus", "cpuset.mems"]) {
      if (!existsSync(join(group, file))) continue;
      await writeFile(join(group, file), await readFile(join(dirname(group), file)));
    }
  }
}

/** Removes the groups with all that pods have made below them, once their processes have ended. */
export async function removeGroups(groups: readonly string[]): Promise<void> {
  for (const group of groups) {
    if (!existsSync(group)) continue;
    await until(async () => await isRemoved(group), { within: 60_000, every: 100, what: `${group} is empty` });
  }
}

async function isRemoved(group: string): Promise<boolean> {
  try {
    for (const entry of await readdir(group, { withFileTypes: true })) {
      if (entry.isDirectory() && !(await isRemoved(join(group, entry.name)))) return false;
    }
    await rmdir(group);
    return true;
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    if (code === "ENOENT") return true;
    if (code === "EBUSY" || code === "ENOTEMPTY") return false; // processes that are ending
    throw error;
  }
}
