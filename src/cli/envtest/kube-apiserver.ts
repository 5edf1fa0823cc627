/** Stands in for kube-apiserver: runs the embedded API server with kube-apiserver's flags. */
import { kubernetesVersion, serveApiServer } from "binnacle-apiserver";
import { messageOf } from "../../platform/error-message.ts";
import type { Host } from "../command.ts";
import { whenSignalled } from "../signals.ts";
import { UserError } from "../usage-error.ts";
import { etcdData } from "./etcd-data.ts";
import { type FlagValues, parseGoFlags } from "./go-flags.ts";
import { flagTypes, helpText, honoured } from "./kube-apiserver-flags.ts";
import { kubeApiserverOptions, pluginsWithoutEffect } from "./kube-apiserver-options.ts";

/** Runs until a signal. @returns the exit status */
export async function runKubeApiserver(args: readonly string[], { out, err }: Host): Promise<number> {
  if (args.includes("--help") || args.includes("-h")) {
    out(helpText());
    return 0;
  }
  if (args.some((argument) => /^--version(=|$)/.test(argument))) {
    out(`Kubernetes ${kubernetesVersion}\n`);
    return 0;
  }
  const signalled = whenSignalled(() => undefined);
  const flags = parseGoFlags(args, { types: flagTypes, letters: { v: "v" } });
  const idle = withoutEffect(flags);
  if (idle.length > 0) err(`These flags have no effect here: ${idle.join(", ")}\n`);
  const plugins = pluginsWithoutEffect(flags);
  if (plugins.length > 0) err(`These admission plugins have no effect here: ${plugins.join(", ")}\n`);
  const { server, host, port, tls, clientAuthority, etcdServers, etcdPrefix } = kubeApiserverOptions(flags);
  const data = await etcdData({ servers: etcdServers, prefix: etcdPrefix }).catch((error: unknown) => {
    throw new UserError(`Cannot reach etcd at ${etcdServers.join(", ")}: ${messageOf(error)}`);
  });
  if (data === undefined)
    err(`The objects are in memory and end with this process: ${etcdServers.join(", ")} is not the etcd of binnacle\n`);
  const serving = await serveApiServer({
    host,
    port,
    tls,
    clientAuthority,
    serverOptions: () => ({ ...server, data, durable: false }),
  }).catch((error: unknown) => {
    const who = /database is locked/.test(messageOf(error))
      ? ": another kube-apiserver uses the data of this etcd"
      : "";
    throw new UserError(`Cannot serve on ${host}:${port}: ${messageOf(error)}${who}`);
  });
  err(`Serving the Kubernetes API on https://${serving.address}\n`);
  await signalled;
  await serving.stop();
  return 0;
}

function withoutEffect(flags: FlagValues): string[] {
  return [...flags.keys()].filter((name) => !Object.hasOwn(honoured, name)).map((name) => `--${name}`);
}
