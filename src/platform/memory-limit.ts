/**
 * Determines how much memory this process may use before the kernel ends it: the limit of its container, or of any
 * group above.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";

/** A limit on memory, and the present use of it. */
export interface MemoryLimit {
  /** The present limit in bytes: a container may be resized while it runs. Infinite when the limit is gone. */
  readonly bytes: number;
  /** The origin of the limit: the file of the control group, or the option that sets it. */
  readonly source: string;
  /** The bytes that count towards the limit and that the kernel cannot take back, so that they grow until it kills. */
  used(): number;
}

/** Version 1 writes about 2^63 for "no limit", rounded down to whole pages. */
const UNLIMITED = 2 ** 60;

/**
 * Reads the limit of the control group that this process is in, and of all groups above it: the lowest one counts.
 *
 * Both versions are read. A container sees its own group at the mount point and nothing above it; a process of the
 * machine sees the whole tree.
 *
 * @param root the root of the file system.
 * @returns `undefined` without a limit, and on systems without control groups.
 */
function readMemoryLimit(root: string): MemoryLimit | undefined {
  const lines = (file: string): string[] => (readText(join(root, file)) ?? "").split("\n");
  const paths = lines("proc/self/cgroup").map((line) => /^\d+:([^:]*):(.*)$/.exec(line));
  let lowest: MemoryLimit | undefined;
  for (const line of lines("proc/self/mountinfo")) {
    // The fields are described in proc_pid_mountinfo(5): root, mount point, options; after the dash type and options
    // again.
    const match = /^\d+ \d+ \S+ (\S+) (\S+) .* - (cgroup2?) \S+ (\S+)$/.exec(line);
    if (match === null) continue;
    const [, mounted = "/", point = "", type, options = ""] = match;
    if (type === "cgroup" && !options.split(",").includes("memory")) continue;
    const isOurs = ([, names = ""]: RegExpExecArray): boolean =>
      type === "cgroup2" ? names === "" : names.split(",").includes("memory");
    const path = paths.find((one) => one !== null && isOurs(one))?.[2] ?? "/";
    for (const group of groupsAbove(below(mounted, path))) {
      const limit = (type === "cgroup2" ? unified : legacy)(join(root, point, group));
      if (limit !== undefined && limit.bytes < (lowest?.bytes ?? Infinity)) lowest = limit;
    }
  }
  return lowest;
}

/** Returns the path of a group below the mounted one; `undefined` for a group that the mount does not show. */
function below(mounted: string, path: string): string {
  if (mounted === "/") return path;
  return path === mounted || path.startsWith(`${mounted}/`) ? path.slice(mounted.length) : "/";
}

/** Yields a path and all paths above it, such as `/a/b`, `/a` and the root. */
function* groupsAbove(path: string): Generator<string> {
  // Behind a namespace, a group elsewhere in the tree shows as `/../other`.
  const parts = path.split("/").filter((part) => part !== "" && part !== "..");
  for (let length = parts.length; length >= 0; length--) yield parts.slice(0, length).join("/");
}

/** @see https://docs.kernel.org/admin-guide/cgroup-v2.html#memory-interface-files */
function unified(group: string): MemoryLimit | undefined {
  return limitOf(join(group, "memory.max"), () => {
    const stat = statOf(group);
    const current = numberIn(join(group, "memory.current")) ?? 0;
    // Shared memory counts as file pages, but can only be swapped.
    return current - stat("file") + stat("shmem") - stat("slab_reclaimable");
  });
}

/** @see https://docs.kernel.org/admin-guide/cgroup-v1/memory.html */
function legacy(group: string): MemoryLimit | undefined {
  return limitOf(join(group, "memory.limit_in_bytes"), () => {
    const stat = statOf(group);
    const current = numberIn(join(group, "memory.usage_in_bytes")) ?? 0;
    return current - stat("total_active_file") - stat("total_inactive_file");
  });
}

function limitOf(file: string, used: () => number): MemoryLimit | undefined {
  const read = (): number => {
    const bytes = numberIn(file) ?? Infinity;
    return bytes < UNLIMITED ? bytes : Infinity;
  };
  if (read() === Infinity) return undefined;
  return {
    get bytes() {
      return read();
    },
    source: file,
    used: () => Math.max(0, used()),
  };
}

function statOf(group: string): (name: string) => number {
  const text = readText(join(group, "memory.stat")) ?? "";
  return (name) => {
    const start = text.startsWith(`${name} `) ? 0 : text.indexOf(`\n${name} `) + 1;
    return start === 0 && !text.startsWith(`${name} `) ? 0 : Number.parseInt(text.slice(start + name.length + 1), 10);
  };
}

/** Reads a number from a file; `undefined` when the file does not exist, or contains `max`. */
function numberIn(file: string): number | undefined {
  const text = readText(file)?.trim();
  return text !== undefined && /^\d+$/.test(text) ? Number(text) : undefined;
}

function readText(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return undefined;
  }
}

/** The memory that this process alone takes, for a limit that is not a control group's. */
function ownMemory(): number {
  const status = readText("/proc/self/status");
  if (status === undefined) return process.memoryUsage.rss();
  const kib = (name: string): number => Number(new RegExp(`^${name}:\\s+(\\d+) kB`, "m").exec(status)?.[1] ?? 0);
  return (kib("RssAnon") + kib("RssShmem")) * 1_024;
}

/**
 * The limit in force: the lower one of the option's and the control group's.
 *
 * @param flag the option's limit in bytes; 0 turns the limit off. @default the control group's
 * @param root the root of the file system. @default "/"
 */
export function memoryLimit(flag: number | undefined, root = "/"): MemoryLimit | undefined {
  if (flag === 0) return undefined;
  const group = readMemoryLimit(root);
  if (flag === undefined) return group;
  // A group may contain other processes, so its use says nothing about a limit for this one alone.
  const own: MemoryLimit = { bytes: flag, source: "--memory-limit", used: ownMemory };
  if (group === undefined) return own;
  const lower = (): MemoryLimit => (group.bytes <= flag ? group : own);
  return {
    get bytes() {
      return lower().bytes;
    },
    get source() {
      return lower().source;
    },
    used: () => lower().used(),
  };
}
