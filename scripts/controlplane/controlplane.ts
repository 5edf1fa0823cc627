/**
 * A real control plane on loopback: etcd, kube-apiserver and, when asked, kube-controller-manager. There is no kubelet
 * and no scheduler: pods stay Pending.
 *
 *     await using controlPlane = await startControlPlane({ controllers: true });
 *     await controlPlane.kubectl("get", "namespaces");
 *
 * On the command line: `bun scripts/controlplane/controlplane.ts build | up [-c] DIR | down [-r] DIR`.
 */

import { rm } from "node:fs/promises";
import { resolve } from "node:path";
import { assets } from "./assets.ts";
import type { ControlPlane } from "../../src/testing/control-plane/running.ts";
import { type ControlPlaneOptions, startPrograms } from "../../src/testing/control-plane/start.ts";
import { readState, removeState, runsIn } from "../../src/testing/control-plane/state.ts";

export type { ControlPlane };
export { assets };

/** Starts a control plane and waits until it is ready, which takes about 3 seconds. @throws when `assets()` has no programs */
export async function startControlPlane(options: Omit<ControlPlaneOptions, "bin"> = {}): Promise<ControlPlane> {
  const bin = await assets();
  if (!bin)
    throw new Error(
      "Cannot start a control plane: install Go 1.26, or point KUBEBUILDER_ASSETS at a folder with etcd and kube-apiserver",
    );
  return startPrograms({ ...options, bin });
}

const usage = `usage: bun scripts/controlplane/controlplane.ts build          prints the folder with the programs
                                                 up [-c] DIR    prints a kubeconfig; -c starts kube-controller-manager too
                                                 down [-r] DIR  -r removes DIR as well`;

/** Runs the command line. @returns the exit status. */
async function main([command, ...rest]: readonly string[]): Promise<number> {
  const flag = command === "up" ? "-c" : command === "down" ? "-r" : undefined;
  const isNamed = flag !== undefined && rest[0] === flag;
  const [dir, ...more] = isNamed ? rest.slice(1) : rest;
  if (more.length > 0 || (command === "build") !== (dir === undefined) || dir?.startsWith("-")) {
    console.error(usage);
    return 2;
  }
  try {
    if (command === "build") return await build();
    if (command === "up") return await up(resolve(dir ?? ""), isNamed);
    if (command === "down") return await down(resolve(dir ?? ""), isNamed);
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    return 1;
  }
  console.error(usage);
  return 2;
}

async function build(): Promise<number> {
  const folder = await assets();
  console[folder ? "log" : "error"](folder ?? "Cannot build: there is no Go on PATH");
  return folder ? 0 : 1;
}

async function up(dir: string, controllers: boolean): Promise<number> {
  const { kubeconfig } = await startControlPlane({ dir, controllers, detached: true });
  console.log(kubeconfig);
  return 0;
}

async function down(dir: string, remove: boolean): Promise<number> {
  const { pids = [] } = (await readState(dir)) ?? {};
  for (const pid of pids.toReversed()) {
    if (runsIn(dir, pid)) process.kill(pid, "SIGKILL");
    while (runsIn(dir, pid)) await Bun.sleep(20);
  }
  await removeState(dir);
  if (remove) await rm(dir, { recursive: true, force: true });
  return 0;
}

if (import.meta.main) process.exitCode = await main(process.argv.slice(2));
