/** Runs this program as one of those whose place it takes in a folder of `binnacle envtest`. */
import { messageOf } from "../../platform/error-message.ts";
import type { Host } from "../command.ts";
import { assetNames } from "./asset-name.ts";
import { FlagError } from "./go-flags.ts";

const programs: Readonly<Record<string, () => Promise<(args: readonly string[], host: Host) => Promise<number>>>> = {
  etcd: async () => (await import("./etcd.ts")).runEtcd,
  "kube-apiserver": async () => (await import("./kube-apiserver.ts")).runKubeApiserver,
};

/** Runs the program of this name. @returns the exit status */
export async function actAs([name = "", ...args]: readonly string[], host: Host): Promise<number> {
  try {
    const run = await programs[name]?.();
    if (run === undefined)
      throw new FlagError(`binnacle does not act as '${name}': as ${assetNames.join(" and ")} it does`);
    return await run(args, host);
  } catch (error) {
    host.err(`Error: ${messageOf(error)}\n`);
    // The parser of etcd's flags ends its program so.
    return error instanceof FlagError && name === "etcd" ? 2 : 1;
  }
}
