/** `binnacle apiserver` */
import { messageOf } from "../platform/error-message.ts";
import { readFileSync } from "node:fs";
import { listenApiServer, type ListeningApiServer, type ListenOptions } from "binnacle-apiserver";
import { isLoopback } from "binnacle-apiserver";
import { writePrivate } from "../platform/private-file.ts";
import { type Command, command } from "./command.ts";
import { whenSignalled } from "./signals.ts";
import { UsageError, UserError } from "./usage-error.ts";

export const apiserverCommand: Command = command({
  options: [
    {
      name: "bind-address",
      type: "string",
      default: "127.0.0.1:0",
      describe: "Address to serve on, with TLS; port 0 is a free one",
    },
    {
      name: "allow-remote",
      type: "boolean",
      default: false,
      describe: "Let in programs of other machines that have a token; else the address must be of this machine",
    },
    {
      name: "tls-san",
      type: "list",
      describe: "Another name or address by which clients reach the server, for its certificate; repeatable",
    },
    {
      name: "data",
      type: "string",
      describe: "Folder in which the objects survive a restart; without it they are lost",
    },
    {
      name: "client-ca-file",
      type: "string",
      describe: "PEM file of the authority whose client certificates identify users; without it users have tokens",
    },
    { name: "write-kubeconfig", type: "string", describe: "File for a kubeconfig of an administrator" },
  ],
  async run(values, { out }) {
    const signalled = whenSignalled(() => undefined);
    const address = parseAddress(values["bind-address"]);
    if (!isLoopback(address.host) && values["client-ca-file"] === undefined && !values["allow-remote"]) {
      throw new UsageError(
        `--bind-address is '${values["bind-address"]}', which other machines reach: pass --client-ca-file too, so that clients are ` +
          "authenticated by certificates, --allow-remote, with which they need a token, or an address of this machine such " +
          "as 127.0.0.1:6443",
      );
    }
    const listening = await start({
      ...address,
      data: values.data,
      clientAuthority: readAuthority(values["client-ca-file"]),
      remote: values["allow-remote"],
      names: values["tls-san"],
    });
    const file = values["write-kubeconfig"];
    if (file !== undefined) {
      try {
        writePrivate(file, listening.kubeconfig);
      } catch (error) {
        await listening.stop();
        throw new UserError(`Cannot write the kubeconfig ${file}: ${messageOf(error)}`);
      }
    }
    // All lines are written at once, because a test that starts the server may stop reading after the first one.
    out(`Serving the Kubernetes API on ${listening.url}\n${file === undefined ? "" : `export KUBECONFIG=${file}\n`}`);
    await signalled;
    await listening.stop();
    return 0;
  },
});

async function start(
  options: ListenOptions & { readonly host: string; readonly port: number },
): Promise<ListeningApiServer> {
  try {
    return await listenApiServer(options);
  } catch (error) {
    const where = options.data === undefined ? "" : ` with data in ${options.data}`;
    throw new UserError(`Cannot serve on ${options.host}:${options.port}${where}: ${messageOf(error)}`);
  }
}

function readAuthority(file: string | undefined): string | undefined {
  if (file === undefined) return undefined;
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    throw new UserError(`Cannot read --client-ca-file ${file}: ${messageOf(error)}`);
  }
}

function parseAddress(text: string): { host: string; port: number } {
  const match = /^(?:\[([0-9a-fA-F:]+)\]|([^:]*)):([0-9]+)$/.exec(text);
  const port = Number(match?.[3]);
  if (match === null || port > 65_535)
    throw new UsageError(`--bind-address is '${text}': expected <host>:<port>, such as 127.0.0.1:6443`);
  return { host: match[1] ?? (match[2] || "0.0.0.0"), port };
}
