import { afterAll, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { memoryLimit } from "./memory-limit.ts";

const MIB = 1_048_576;
const folder = mkdtempSync(join(tmpdir(), "memory-limit-"));
afterAll(() => rmSync(folder, { recursive: true }));
let count = 0;

/** A file system with what the kernel shows. */
function machine(files: Readonly<Record<string, string>>): string {
  const root = join(folder, String(count++));
  for (const [file, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, file)), { recursive: true });
    writeFileSync(join(root, file), text);
  }
  return root;
}

const UNIFIED = "31 23 0:28 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate\n";

test("memoryLimit reads the group of a container, and what the kernel cannot take back", () => {
  const root = machine({
    "proc/self/cgroup": "0::/\n",
    "proc/self/mountinfo": UNIFIED,
    "sys/fs/cgroup/memory.max": `${128 * MIB}\n`,
    "sys/fs/cgroup/memory.current": `${100 * MIB}\n`,
    "sys/fs/cgroup/memory.stat": `anon ${40 * MIB}\nfile ${55 * MIB}\nshmem ${2 * MIB}\nslab_reclaimable ${MIB}\n`,
  });
  const limit = memoryLimit(undefined, root);
  expect(limit?.bytes).toBe(128 * MIB);
  expect(limit?.source).toBe(join(root, "sys/fs/cgroup/memory.max"));
  expect(limit?.used()).toBe(46 * MIB);
});

test("memoryLimit takes the lowest limit of nested groups", () => {
  const files = {
    "proc/self/cgroup": "0::/kubepods/pod1/main\n",
    "proc/self/mountinfo": UNIFIED,
    "sys/fs/cgroup/kubepods/memory.max": "max\n",
    "sys/fs/cgroup/kubepods/pod1/memory.max": `${96 * MIB}\n`,
    "sys/fs/cgroup/kubepods/pod1/memory.current": `${10 * MIB}\n`,
    "sys/fs/cgroup/kubepods/pod1/main/memory.max": "max\n",
  };
  const limit = memoryLimit(undefined, machine(files));
  expect([limit?.bytes, limit?.used()]).toEqual([96 * MIB, 10 * MIB]);
  const lower = { ...files, "sys/fs/cgroup/kubepods/pod1/main/memory.max": `${64 * MIB}` };
  expect(memoryLimit(undefined, machine(lower))?.bytes).toBe(64 * MIB);
});

test("memoryLimit reads version 1, also where a container sees its own group alone", () => {
  const limits = {
    "memory.limit_in_bytes": `${256 * MIB}\n`,
    "memory.usage_in_bytes": `${90 * MIB}\n`,
    "memory.stat": `cache 1\nactive_file 7\ntotal_inactive_file ${20 * MIB}\ntotal_active_file ${10 * MIB}\n`,
  };
  const at = (group: string) =>
    Object.fromEntries(Object.entries(limits).map(([file, text]) => [`sys/fs/cgroup/memory${group}/${file}`, text]));
  const cgroup = "9:cpu,cpuacct:/x\n4:memory:/docker/abc\n0::/\n";
  const host = machine({
    "proc/self/cgroup": cgroup,
    "proc/self/mountinfo": `35 31 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n${UNIFIED}`,
    ...at("/docker/abc"),
    "sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n",
  });
  const inside = machine({
    "proc/self/cgroup": cgroup,
    "proc/self/mountinfo": "35 31 0:32 /docker/abc /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n",
    ...at(""),
  });
  for (const root of [host, inside]) {
    const limit = memoryLimit(undefined, root);
    expect([limit?.bytes, limit?.used()]).toEqual([256 * MIB, 60 * MIB]);
  }
});

test("memoryLimit finds none without a limit, or without control groups", () => {
  expect(memoryLimit(undefined, machine({}))).toBeUndefined();
  const files = { "proc/self/cgroup": "0::/\n", "proc/self/mountinfo": UNIFIED, "sys/fs/cgroup/memory.max": "max\n" };
  expect(memoryLimit(undefined, machine(files))).toBeUndefined();
});

test("memoryLimit takes the lower one of what is given and what the group has, and none for 0", () => {
  const root = machine({
    "proc/self/cgroup": "0::/\n",
    "proc/self/mountinfo": UNIFIED,
    "sys/fs/cgroup/memory.max": `${128 * MIB}\n`,
    "sys/fs/cgroup/memory.current": "5\n",
  });
  expect(memoryLimit(0, root)).toBeUndefined();
  expect(memoryLimit(256 * MIB, root)?.bytes).toBe(128 * MIB);
  const given = memoryLimit(64 * MIB, root);
  expect([given?.bytes, given?.source]).toEqual([64 * MIB, "--memory-limit"]);
});

test("memoryLimit measures this process alone for a limit that is given, because it may share its group with others", () => {
  const root = machine({
    "proc/self/cgroup": "0::/system.slice\n",
    "proc/self/mountinfo": UNIFIED,
    "sys/fs/cgroup/system.slice/memory.max": `${2 ** 40}\n`,
    "sys/fs/cgroup/system.slice/memory.current": `${2 ** 39}\n`,
  });
  for (const limit of [memoryLimit(64 * MIB, root), memoryLimit(64 * MIB, machine({}))]) {
    expect(limit?.used()).toBeGreaterThan(MIB);
    expect(limit?.used()).toBeLessThan(2 ** 38);
  }
});

test("memoryLimit follows the limit of a container that is resized while it runs", () => {
  const files = {
    "proc/self/cgroup": "0::/\n",
    "proc/self/mountinfo": UNIFIED,
    "sys/fs/cgroup/memory.max": `${128 * MIB}\n`,
  };
  const root = machine(files);
  const [limit, given] = [memoryLimit(undefined, root), memoryLimit(96 * MIB, root)];
  const resize = (text: string): void => writeFileSync(join(root, "sys/fs/cgroup/memory.max"), text);
  resize(`${256 * MIB}\n`);
  expect([limit?.bytes, given?.bytes]).toEqual([256 * MIB, 96 * MIB]);
  resize(`${64 * MIB}\n`);
  expect([limit?.bytes, given?.bytes]).toEqual([64 * MIB, 64 * MIB]);
  resize("max\n");
  expect([limit?.bytes, given?.bytes]).toEqual([Infinity, 96 * MIB]);
});
