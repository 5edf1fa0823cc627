/** Control groups in which a test runs a process with limits. */
import { existsSync } from "node:fs";
import { mkdir, readFile, rmdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { until } from "./until.ts";

export interface GroupLimits {
  /** In MiB. */
  readonly memory?: number;
  /** The part of one processor. */
  readonly cpu?: number;
}

/** In microseconds; the default of Kubernetes. */
const PERIOD = 100_000;

/** A group, or one for each controller where the machine has version 1, below those that this process is in. */
export class ControlGroup {
  readonly #folders: readonly string[];

  private constructor(folders: readonly string[]) {
    this.#folders = folders;
  }

  /** @returns why there can be none on this machine, such as that the user is not root. */
  static async make(limits: GroupLimits): Promise<ControlGroup | string> {
    if (process.platform !== "linux") return "control groups exist on Linux only";
    const groups: string[] = [];
    try {
      for (const [controller, files] of filesOf(limits)) {
        const parent = await parentOf(controller);
        if (parent === undefined) return `there is no control group for ${controller}`;
        const folder = join(parent.folder, `binnacle-${process.pid}-${groups.length}-${Date.now().toString(36)}`);
        await mkdir(folder);
        groups.push(folder);
        for (const [file, text] of files[parent.version]) await writeFile(join(folder, file), text);
      }
      return new ControlGroup(groups);
    } catch (error) {
      for (const folder of groups) await rmdir(folder);
      return `control groups cannot be made here: ${error instanceof Error ? error.message : String(error)}`;
    }
  }

  /** The command that runs another one inside. */
  get command(): readonly string[] {
    const enter = this.#folders.map((folder) => `echo $$ > '${folder}/cgroup.procs'`).join(" && ");
    return ["/bin/sh", "-c", `${enter} && exec "$@"`, "sh"];
  }

  /** All processes inside have to be at their end. */
  async [Symbol.asyncDispose](): Promise<void> {
    for (const folder of this.#folders) {
      const isRemoved = (): Promise<boolean> =>
        rmdir(folder).then(
          () => true,
          () => !existsSync(folder),
        );
      await until(isRemoved, { what: `${folder} is empty` });
    }
  }
}

type Files = readonly (readonly [file: string, text: string])[];

function filesOf({ memory, cpu }: GroupLimits): [controller: string, files: Readonly<Record<1 | 2, Files>>][] {
  const all: [string, Readonly<Record<1 | 2, Files>>][] = [];
  if (memory !== undefined) {
    const bytes = String(memory * 2 ** 20);
    all.push(["memory", { 1: [["memory.limit_in_bytes", bytes]], 2: [["memory.max", bytes]] }]);
  }
  if (cpu !== undefined) {
    const quota = String(Math.round(cpu * PERIOD));
    const legacy = [
      ["cpu.cfs_period_us", String(PERIOD)],
      ["cpu.cfs_quota_us", quota],
    ] as const;
    all.push(["cpu", { 1: legacy, 2: [["cpu.max", `${quota} ${PERIOD}`]] }]);
  }
  return all;
}

async function parentOf(controller: string): Promise<{ readonly folder: string; readonly version: 1 | 2 } | undefined> {
  const own = (await readFile("/proc/self/cgroup", "utf8"))
    .trim()
    .split("\n")
    .map((line) => line.split(":"));
  const legacy = own.find(([, names = ""]) => names.split(",").includes(controller));
  if (legacy !== undefined) return { folder: join("/sys/fs/cgroup", controller, legacy[2]!), version: 1 };
  // A group of version 2 that has processes can have none below it with controllers, except at the root.
  const controllers = await readFile("/sys/fs/cgroup/cgroup.subtree_control", "utf8").catch(() => "");
  return controllers.split(/\s+/).includes(controller) ? { folder: "/sys/fs/cgroup", version: 2 } : undefined;
}
