/** One request over HTTP/1.1 on a connection of its own: plain http, and servers that do not speak HTTP/2. */
import http, { type ClientRequest, type IncomingMessage } from "node:http";
import https from "node:https";
import { isIP } from "node:net";
import { UnreachableError } from "../errors/api-error.ts";
import type { ClusterConfig } from "../config/cluster-config.ts";
import { unreachable } from "../errors/connection-failure.ts";
import type { Exchange, ExchangeHandlers, OpenExchange } from "./exchange.ts";

/** How often the operating system asks whether the other side of a silent connection is still there. */
const KEEP_ALIVE_MS = 5_000;

/** Starts a request; every failure goes to the handlers. */
export function openH1(config: ClusterConfig, exchange: Exchange, handlers: ExchangeHandlers): OpenExchange {
  const { server } = config;
  const request = startRequest(config, exchange);
  let open = true;
  const finish = (error?: UnreachableError): void => {
    if (!open) return;
    open = false;
    if (error) handlers.onError(error);
    else handlers.onEnd();
  };
  request.on("socket", (socket) => socket.setKeepAlive(true, KEEP_ALIVE_MS));
  request.on("error", (error) => finish(unreachable(server, error)));
  request.on("response", (response: IncomingMessage) => {
    if (!open) return;
    handlers.onResponse(response.statusCode ?? 0, (name) => {
      const value = response.headers[name];
      return Array.isArray(value) ? value.join(", ") : value;
    });
    response.on("data", (chunk: Uint8Array) => {
      if (open) handlers.onChunk(chunk);
    });
    response.on("error", (error) => finish(unreachable(server, error)));
    response.on("close", () => {
      const lost = { code: "ECONNRESET", message: "the connection was lost" };
      finish(response.complete ? undefined : new UnreachableError(server, lost));
    });
  });
  request.end(exchange.body);
  return {
    cancel: () => {
      open = false;
      request.destroy();
    },
  };
}

function startRequest(config: ClusterConfig, exchange: Exchange): ClientRequest {
  const url = new URL(config.server + exchange.path);
  const host = url.hostname.replace(/^\[|\]$/g, "");
  const options = {
    host,
    method: exchange.method,
    path: url.pathname + url.search,
    headers: { ...exchange.headers } as Record<string, string | string[]>,
    agent: false as const,
  };
  if (url.protocol === "http:") return http.request({ ...options, port: Number(url.port) || 80 });
  const { ca, cert, key, serverName, rejectUnauthorized } = config.tls;
  const name = serverName ?? (isIP(host) ? undefined : host);
  return https.request({
    ...options,
    port: Number(url.port) || 443,
    rejectUnauthorized,
    ...(ca !== undefined && { ca }),
    ...(cert !== undefined && { cert }),
    ...(key !== undefined && { key }),
    ...(name !== undefined && { servername: name }),
  });
}
