/**
 * Stands in for etcd: answers health checks, and tells the `kube-apiserver` beside it the folder for the data. So
 * the objects survive a restart of the API server as long as etcd's data does.
 */
import { createServer } from "node:http";
import { mkdirSync } from "node:fs";
import { join, resolve } from "node:path";
import type { Host } from "../command.ts";
import { whenSignalled } from "../signals.ts";
import { FlagError, type FlagType, parseGoFlags } from "./go-flags.ts";

/** The path whose answer is the folder for the data. */
export const DATA_PATH = "/binnacle/data";

const booleans = `client-cert-auth auto-tls discovery-insecure-skip-tls-verify discovery-insecure-transport enable-grpc-gateway
  enable-log-rotation enable-pprof force-new-cluster help initial-election-tick-advance memory-mlock peer-auto-tls
  peer-client-cert-auth pre-vote socket-reuse-address socket-reuse-port strict-reconfig-check unsafe-no-fsync version`;

/** Any other flag has a value. */
const types: Pick<ReadonlyMap<string, FlagType>, "get"> = {
  get: (name) => (booleans.split(/\s+/).includes(name) || name.startsWith("experimental-enable-") ? "boolean" : "text"),
};

const help = `binnacle's stand-in for etcd, which stores nothing itself: see \`binnacle envtest --help\`.

Flags:
      --listen-client-urls  Addresses (http) at which it answers /health [default: http://localhost:2379]
      --data-dir            Folder of the data, which the kube-apiserver of binnacle keeps there [default: NAME.etcd]
      --name                NAME [default: default]

Every other flag of etcd is accepted and has no effect.
`;

/** Runs until a signal. @returns the exit status */
export async function runEtcd(args: readonly string[], { out }: Host): Promise<number> {
  const flags = parseGoFlags(
    args.map((argument) => argument.replace(/^-(?=[a-z])/, "--")),
    { types },
  );
  const text = (name: string, otherwise: string): string => flags.get(name)?.[0] ?? otherwise;
  if (flags.has("help") || flags.has("version")) {
    out(flags.has("help") ? help : "etcd Version: 3.6.0 (binnacle)\n");
    return 0;
  }
  const signalled = whenSignalled(() => undefined);
  const folder = resolve(text("data-dir", `${text("name", "default")}.etcd`));
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const servers = await Promise.all(
    text("listen-client-urls", "http://localhost:2379")
      .split(",")
      .map((url) => listen(url, join(folder, "binnacle"))),
  );
  await signalled;
  for (const server of servers) {
    server.close();
    server.closeAllConnections();
  }
  return 0;
}

function listen(text: string, folder: string): Promise<ReturnType<typeof createServer>> {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol !== "http:")
    throw new FlagError(
      `invalid value ${JSON.stringify(text)} for flag -listen-client-urls: expected http://HOST:PORT`,
    );
  const server = createServer(({ url: path }, response) => {
    if (path === "/health")
      response.setHeader("content-type", "application/json").end('{"health":"true","reason":""}\n');
    else if (path === DATA_PATH) response.end(folder);
    else response.writeHead(404).end();
  });
  const { promise, resolve: listening, reject } = Promise.withResolvers<typeof server>();
  server.once("error", reject);
  server.listen(Number(url.port || 80), url.hostname.replace(/^\[|\]$/g, ""), () => listening(server));
  return promise;
}
