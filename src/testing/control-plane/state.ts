/** The state file of a data folder: the ports and processes of its control plane. */

import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Ports } from "./flags.ts";

export interface State {
  readonly ports: Ports;
  /** The processes in the order in which they were started. */
  readonly pids: readonly number[];
}

export async function readState(dir: string): Promise<State | undefined> {
  const file = join(dir, "state.json");
  return existsSync(file) ? (JSON.parse(await readFile(file, "utf8")) as State) : undefined;
}

export async function writeState(dir: string, state: State): Promise<void> {
  await writeFile(join(dir, "state.json"), JSON.stringify(state));
}

export async function removeState(dir: string): Promise<void> {
  await rm(join(dir, "state.json"), { force: true });
}

/** Whether the process belongs to this folder's control plane; another process may have its number by now. */
export function runsIn(dir: string, pid: number): boolean {
  if (!existsSync("/proc/self/cmdline")) {
    return spawnSync("ps", ["-p", String(pid), "-o", "command="], { encoding: "utf8" }).stdout.includes(`${dir}/`);
  }
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").includes(`${dir}/`);
  } catch {
    return false; // there is no such process
  }
}
