/** Runs this executable as `etcd` or `kube-apiserver`, the names by which a folder of `binnacle envtest` calls it. */
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
    if (run === undefined) throw new FlagError(`binnacle cannot act as '${name}', only as ${assetNames.join(" or ")}`);
    return await run(args, host);
  } catch (error) {
    host.err(`Error: ${messageOf(error)}\n`);
    // etcd exits with 2 when its command line is wrong, kube-apiserver with 1.
    return error instanceof FlagError && name === "etcd" ? 2 : 1;
  }
}
