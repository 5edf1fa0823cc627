/**
 * One request over HTTP/1.1 through a proxy, by `fetch`: `node:http` on Bun does not write to a tunnel of our making.
 * At most 256 of these are in flight in a process; servers that speak HTTP/2 never come here.
 */
import { openFetchSession } from "../../platform/fetch-session.ts";
import type { ClusterConfig } from "../config/cluster-config.ts";
import { unreachable } from "../errors/connection-failure.ts";
import type { Exchange, ExchangeHandlers, OpenExchange } from "./exchange.ts";
import { carry } from "./in-process-exchange.ts";

/** Starts a request; every failure goes to the handlers. */
export function openProxied(config: ClusterConfig, exchange: Exchange, handlers: ExchangeHandlers): OpenExchange {
  const controller = new AbortController();
  run(config, { exchange, handlers, signal: controller.signal }).catch((error: unknown) => {
    if (!controller.signal.aborted) handlers.onError(unreachable(config.server, error));
  });
  return { cancel: () => controller.abort() };
}

async function run(
  config: ClusterConfig,
  parts: { exchange: Exchange; handlers: ExchangeHandlers; signal: AbortSignal },
): Promise<void> {
  const { exchange, handlers, signal } = parts;
  const { server, tls, proxy } = config;
  using session = openFetchSession(tls as BunFetchRequestInitTLS);
  const response = await session.fetch(server + exchange.path, {
    method: exchange.method,
    headers: headersOf(exchange),
    ...(exchange.body !== undefined && { body: exchange.body }),
    signal,
    timeout: false,
    decompress: false,
    redirect: "manual",
    proxy,
    protocol: "http1.1",
  });
  await carry(response, handlers, signal);
}

function headersOf(exchange: Exchange): [string, string][] {
  const given = Object.entries({ "accept-encoding": "identity", ...exchange.headers });
  return given.flatMap(([name, value]) =>
    (typeof value === "string" ? [value] : value).map((one): [string, string] => [name, one]),
  );
}
