/** The servers that suites are run on: the executable of these sources, and a real control plane. */

import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { assets, startControlPlane } from "../../scripts/controlplane/controlplane.ts";
import { startClusterControllers } from "../../src/cluster/index.ts";
import { loadKubeconfig } from "../../src/kube/config/kubeconfig.ts";
import { run } from "../node/programs.ts";
import { program } from "../support/program.ts";
import { until } from "../support/until.ts";

export type Server = "binnacle" | "real";

/** The programs of the real control plane. */
async function realAssets(): Promise<string> {
  const folder = await assets();
  if (folder === undefined) throw new Error("Cannot find a real control plane: install Go 1.26, which builds one");
  return folder;
}

/** The search path with the folder of the real control plane before it, which has a kubectl of the same version. */
export async function kubectlPath(): Promise<string> {
  return `${await realAssets()}${delimiter}${process.env["PATH"]}`;
}

/** What `KUBEBUILDER_ASSETS` names for a server. */
export async function assetsOf(server: Server): Promise<string> {
  if (server === "real") return realAssets();
  const env = { PATH: await kubectlPath() };
  const folder = join(import.meta.dirname, "../../dist/envtest");
  return (await run(program, ["envtest", folder, "--print", "path"], { env })).trim();
}

/** A cluster that runs until it is disposed of. */
export interface RunningCluster extends AsyncDisposable {
  readonly kubeconfig: string;
}

/** Starts a cluster with the controllers of one and with pods that run; on both servers the pods are this project's stand-ins. */
export function startCluster(server: Server): Promise<RunningCluster> {
  return server === "real" ? realCluster() : ownCluster();
}

async function ownCluster(): Promise<RunningCluster> {
  const folder = await mkdtemp(join(tmpdir(), "suite-cluster-"));
  await run(program, ["new", "resource", "Idle"], { cwd: folder });
  const off = ["health-probe", "metrics", "webhook"].flatMap((name) => [`--${name}-bind-address`, "0"]);
  const child = spawn(program, ["dev", "--watch=false", ...off], {
    cwd: folder,
    stdio: ["ignore", "ignore", "ignore"],
  });
  const kubeconfig = join(folder, ".binnacle", "kubeconfig");
  await until(() => existsSync(kubeconfig), { what: () => "a cluster by `binnacle dev`" });
  return {
    kubeconfig,
    [Symbol.asyncDispose]: async () => {
      const ended = once(child, "close");
      child.kill();
      await ended;
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function realCluster(): Promise<RunningCluster> {
  const plane = await startControlPlane({ controllers: true });
  const { kubeconfig } = plane;
  const pods = await startClusterControllers(await loadKubeconfig({ kubeconfig, env: {} }), { only: "pods" });
  return {
    kubeconfig,
    [Symbol.asyncDispose]: async () => {
      await pods.stop();
      await plane.stop();
    },
  };
}
