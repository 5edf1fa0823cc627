/** Whether this machine can run a node of its own, and if not, what it lacks. */

import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, rmdirSync } from "node:fs";
import { join } from "node:path";

const MEMORY = "/sys/fs/cgroup/memory";
const PROGRAMS = [
  "go",
  "gcc",
  "apt-get",
  "dpkg",
  "tar",
  "bash",
  "timeout",
  "curl",
  "ip",
  "mount",
  "pivot_root",
  "unshare",
  "nsenter",
];

/** The first thing that is missing, as the end of "Skipped: …"; undefined when a node can run here. */
export function whyNoNode(): string | undefined {
  if (process.platform !== "linux") return "a Kubernetes node runs on Linux alone";
  if (process.getuid?.() !== 0) return "a Kubernetes node needs root";
  const mounts = readFileSync("/proc/mounts", "utf8").split("\n");
  if (!mounts.some((line) => line.split(" ").slice(1, 3).join(" ") === `${MEMORY} cgroup`)) {
    return `there is no memory hierarchy of cgroup v1 at ${MEMORY}`;
  }
  const missing = PROGRAMS.filter((program) => Bun.which(program) === null);
  if (missing.length > 0) return `the PATH has no ${missing.join(", ")}`;
  return whyNoGroup() ?? whyNoNamespaces();
}

/** Containers and sandboxes often show cgroups that nobody may change. */
function whyNoGroup(): string | undefined {
  const group = join(MEMORY, `binnacle-trial-${process.pid}`);
  try {
    mkdirSync(group);
    rmdirSync(group);
    return undefined;
  } catch (error) {
    return `cgroups cannot be made here: ${error instanceof Error ? error.message : String(error)}`;
  }
}

/** kube-proxy writes the rules of Services as tables of nftables, which a kernel may lack. @param nft the program */
export function whyNoTables(nft: string): string | undefined {
  const trial = ["--net", nft, "add", "table", "ip", "trial"];
  const { status, stderr } = spawnSync("unshare", trial, { encoding: "utf8" });
  return status === 0 ? undefined : `the kernel makes no tables of nftables: ${stderr.trim().split("\n")[0] ?? ""}`;
}

function whyNoNamespaces(): string | undefined {
  const namespaces = ["--mount", "--pid", "--net", "--uts", "--ipc", "--cgroup", "--fork"];
  const trial = "mount -t tmpfs trial /mnt && mount -t proc proc /proc && ip link set lo up";
  const { status, stderr } = spawnSync("unshare", [...namespaces, "sh", "-c", trial], { encoding: "utf8" });
  return status === 0 ? undefined : `namespaces cannot be made here: ${stderr.trim().split("\n")[0] ?? ""}`;
}
