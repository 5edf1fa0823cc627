/** A cluster in this process: the embedded API server and the controllers that make it one. */
import { type ListeningApiServer, listenApiServer } from "../apiserver/listen.ts";
import type { ApiServer } from "../apiserver/server.ts";
import type { ClusterConfig } from "../kube/cluster-config.ts";
import { Manager } from "../manager/manager.ts";
import { collectDefinitions } from "../module/module-definitions.ts";
import { createLog, type Log } from "../observe/log.ts";
import { type ClusterOptions, clusterControllers } from "./controllers.ts";

export interface EmbeddedClusterOptions extends ClusterOptions {
  /** A folder that keeps the objects over a restart. @default none: they end with the process */
  readonly data?: string | undefined;
  /** @default 127.0.0.1 */
  readonly host?: string | undefined;
  /** 0 takes the one of the last time where there is `data` and it is free, else a free one. @default 0 */
  readonly port?: number | undefined;
  /** What the cluster's own controllers have to say. @default errors, on standard error */
  readonly log?: Log | undefined;
}

export interface EmbeddedCluster extends AsyncDisposable {
  /** `https://host:port` */
  readonly url: string;
  /** Of an administrator: YAML. */
  readonly kubeconfig: string;
  /** Reaches the server in this process, as an administrator, without a connection. */
  readonly config: ClusterConfig;
  readonly apiServer: ApiServer;
  stop(): Promise<void>;
}

/** Milliseconds that runs of the cluster's own controllers get at the end: what they leave undone they do next time. */
const GRACE_MS = 1_000;

/**
 * Starts an API server with the controllers of a cluster.
 *
 * It does not wait for them: they catch up with whatever is written meanwhile.
 *
 * @throws Error when the address is taken or the data cannot be read.
 */
export async function startEmbeddedCluster(options: EmbeddedClusterOptions = {}): Promise<EmbeddedCluster> {
  const { data, host, port, clock, log = createLog({ level: "error", format: "pretty" }) } = options;
  const listening = await listenApiServer({ data, host, port, now: clock && (() => clock.now()) });
  const config = inProcess(listening);
  const manager = new Manager({
    cluster: config,
    log,
    clock,
    healthAddress: "0",
    metricsAddress: "0",
    grace: GRACE_MS,
    isolate: false,
  });
  const stop = async (): Promise<void> => {
    await manager.stop();
    await listening.stop();
  };
  try {
    await manager.add({
      name: "cluster",
      file: "cluster",
      definitions: collectDefinitions(clusterControllers(options)),
      invoke: (fn) => fn(),
      dispose: () => {},
    });
  } catch (error) {
    await stop();
    throw error;
  }
  const { url, kubeconfig, server } = listening;
  return { url, kubeconfig, config, apiServer: server, stop, [Symbol.asyncDispose]: stop };
}

const NO_HEADERS = Object.freeze({});
const NO_TLS = Object.freeze({
  ca: undefined,
  cert: undefined,
  key: undefined,
  serverName: undefined,
  rejectUnauthorized: true,
});

function inProcess({ url, server }: ListeningApiServer): ClusterConfig {
  return {
    server: url,
    context: "binnacle",
    user: "binnacle",
    namespace: "default",
    tls: NO_TLS,
    answer: (request) => server.fetch(request),
    headers: () => NO_HEADERS,
    reload: () => Promise.resolve(false),
  };
}
