/** Finds the processes that a command asks: on this machine, or the replicas of a Deployment. */
import type { ValuesOf } from "../../settings/option.ts";
import { UsageError } from "../usage-error.ts";
import type { Host } from "../command.ts";
import { DebugClient, type Targets } from "./debug-client.ts";
import { localTargets } from "./local-targets.ts";

/** The options by which every command of this kind finds its processes. */
export const targetOptions = [
  {
    name: "address",
    type: "string",
    describe: "Address of the process's debug listener on this machine; needed when several processes have one",
  },
  {
    name: "deployment",
    type: "string",
    describe: "Deployment of an operator in a cluster: ask its replicas, through the API server's port-forward",
  },
  {
    name: "namespace",
    type: "string",
    describe: "Namespace of --deployment [default: the namespace of the kubeconfig's context]",
  },
  { name: "kubeconfig", type: "string", describe: "Path of the kubeconfig, for --deployment" },
  { name: "context", type: "string", describe: "Context of the kubeconfig, for --deployment" },
] as const;

export const outputOption = {
  name: "output",
  letter: "o",
  type: "string",
  default: "text",
  choices: ["text", "json"],
  describe: "Format of the output: text or json",
} as const;

/** @throws UsageError, UserError when there is no process, or no way to tell which one is meant. */
export async function findTargets(values: ValuesOf<typeof targetOptions>, host: Host): Promise<Targets> {
  const { address, deployment } = values;
  if (address !== undefined && deployment !== undefined)
    throw new UsageError("--address is for a process on this machine and --deployment for a cluster: leave one out");
  if (deployment === undefined && values.context === undefined && values.kubeconfig === undefined) {
    const clients = localTargets(address, host.env).map((target) => new DebugClient(target));
    return { clients, [Symbol.asyncDispose]: async () => {} };
  }
  if (deployment === undefined)
    throw new UsageError(
      "--context and --kubeconfig are for a cluster: name the Deployment of the operator with --deployment",
    );
  const { clusterTargets } = await import("./cluster-targets.ts");
  return clusterTargets({ ...values, deployment }, host);
}
