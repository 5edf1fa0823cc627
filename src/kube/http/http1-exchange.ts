/** Requests to a server that does not speak HTTP/2; the way is loaded by the first of them. */
import type { ClusterConfig } from "../config/cluster-config.ts";
import { unreachable } from "../errors/connection-failure.ts";
import type { Exchange, ExchangeHandlers, OpenExchange } from "./exchange.ts";

/** Starts a request on a connection of its own; every failure goes to the handlers. */
export function openHttp1(config: ClusterConfig, exchange: Exchange, handlers: ExchangeHandlers): OpenExchange {
  let opened: OpenExchange | undefined;
  let isOver = false;
  const start = async (): Promise<void> => {
    const open =
      config.proxy === undefined
        ? (await import("./h1-exchange.ts")).openH1
        : (await import("./proxied-exchange.ts")).openProxied;
    config.renew?.();
    if (!isOver) opened = open(config, exchange, handlers);
  };
  start().catch((error: unknown) => handlers.onError(unreachable(config.server, error)));
  return {
    cancel: () => {
      isOver = true;
      opened?.cancel();
    },
  };
}
