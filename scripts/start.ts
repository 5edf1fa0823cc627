/** Runs controllers/ on the cluster of kubectl's current context or, where there is none, on a control plane of its own. */

import { spawn } from "node:child_process";
import { relative, join } from "node:path";
import { binary, build, isBuilt } from "./build.ts";
import { type ControlPlane, startControlPlane } from "./controlplane/controlplane.ts";
import { currentContext } from "./current-context.ts";

const root = join(import.meta.dirname, "..");

try {
  process.exitCode = await start();
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}

async function start(): Promise<number> {
  if (!isBuilt()) {
    console.log("Building dist/binnacle");
    await build();
  }
  const context = currentContext(process.env);
  if (context) {
    console.log(`Running controllers/ on ${context}, kubectl's current context; Ctrl-C stops it`);
    return await run(process.env);
  }
  await using controlPlane = await ownControlPlane();
  return await run({ ...process.env, KUBECONFIG: controlPlane.kubeconfig });
}

async function ownControlPlane(): Promise<ControlPlane> {
  console.log("kubectl has no current context: starting etcd, kube-apiserver and kube-controller-manager");
  const controlPlane = await startControlPlane({ dir: join(root, ".binnacle", "controlplane"), controllers: true });
  console.log(`Running controllers/ on ${controlPlane.url}; Ctrl-C stops everything. For kubectl:`);
  console.log(`    export KUBECONFIG=$PWD/${relative(process.cwd(), controlPlane.kubeconfig)}`);
  return controlPlane;
}

/** Runs the binary to its end. A terminal sends Ctrl-C to it as well; other signals are passed on. */
async function run(env: NodeJS.ProcessEnv): Promise<number> {
  const args = ["run", "--controllers", join(root, "controllers"), "--install-crds"];
  const child = spawn(binary, args, { cwd: root, env, stdio: "inherit" });
  process.on("SIGINT", () => process.stdin.isTTY || child.kill("SIGINT"));
  process.on("SIGTERM", () => child.kill("SIGTERM"));
  return await new Promise((resolve, reject) => {
    child.once("error", reject).once("exit", (code) => resolve(code ?? 1));
  });
}
