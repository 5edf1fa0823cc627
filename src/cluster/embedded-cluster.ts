/** A cluster in this process: the embedded API server and the controllers of a cluster. */
import { accountUser } from "binnacle-apiserver";
import { listenApiServer } from "binnacle-apiserver";
import type { ApiServer } from "binnacle-apiserver";
import type { ClusterConfig } from "../kube/config/cluster-config.ts";
import type { Log } from "../observe/log.ts";
import type { ClusterOptions } from "./controllers.ts";
import type { OwnedChange } from "./garbage-collector/object-feed.ts";
import { startClusterControllers } from "./start-controllers.ts";

export interface EmbeddedClusterOptions extends ClusterOptions {
  /** A folder in which the objects survive a restart. @default none: they end with the process */
  readonly data?: string | undefined;
  /** The address to listen on. @default 127.0.0.1 */
  readonly host?: string | undefined;
  /** The port. 0 takes the previous one if there is `data` and that port is free, otherwise any free one. @default 0 */
  readonly port?: number | undefined;
  /** The log of the cluster's own controllers, which retry what fails. @default nothing is logged */
  readonly log?: Log | undefined;
  /** A proxy between `config` and the server. @default none */
  readonly through?: ((answer: Answer) => Answer) | undefined;
}

type Answer = (request: Request) => Promise<Response>;

export interface EmbeddedCluster extends AsyncDisposable {
  /** The server's address, `https://host:port`. */
  readonly url: string;
  /** An administrator's kubeconfig, as YAML. */
  readonly kubeconfig: string;
  /** Reaches the server in this process as an administrator, without a connection. */
  readonly config: ClusterConfig;
  /** Returns a configuration that reaches the server as another user, without the proxy. @default an administrator */
  as(account?: { readonly namespace: string; readonly name: string }): ClusterConfig;
  readonly apiServer: ApiServer;
  stop(): Promise<void>;
}

/**
 * Starts an API server with the controllers of a cluster.
 *
 * It does not wait for the controllers; they catch up with writes in the meantime.
 *
 * @throws Error when the address is taken or the data cannot be read.
 */
export async function startEmbeddedCluster(options: EmbeddedClusterOptions = {}): Promise<EmbeddedCluster> {
  const { data, host, port, clock } = options;
  const listening = await listenApiServer({
    data,
    host,
    port,
    now: clock && (() => clock.now()),
    aggregatesRoles: true,
  });
  const answer: Answer = (request) => listening.server.fetch(request);
  const config = inProcess(listening.url, options.through?.(answer) ?? answer);
  try {
    const controllers = await startClusterControllers(config, {
      ...options,
      objects: (listener) => listening.server.follow((change) => listener(change as OwnedChange)),
      rootCertificates: listening.authority,
    });
    const stop = async (): Promise<void> => {
      await controllers.stop();
      await listening.stop();
    };
    const { url, kubeconfig, server } = listening;
    const as: EmbeddedCluster["as"] = (account) => {
      const connection = account && { certificate: accountUser(account) };
      return inProcess(url, (request) => server.fetch(request, connection));
    };
    return { url, kubeconfig, config, as, apiServer: server, stop, [Symbol.asyncDispose]: stop };
  } catch (error) {
    await listening.stop();
    throw error;
  }
}

const NO_HEADERS = Object.freeze({});
const NO_TLS = Object.freeze({
  ca: undefined,
  cert: undefined,
  key: undefined,
  serverName: undefined,
  rejectUnauthorized: true,
});

function inProcess(server: string, answer: Answer): ClusterConfig {
  return {
    server,
    context: "binnacle",
    user: "binnacle",
    namespace: "default",
    tls: NO_TLS,
    answer,
    headers: () => NO_HEADERS,
    reload: () => Promise.resolve(false),
  };
}
