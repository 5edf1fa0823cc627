/** Sends one request over HTTP/1.1 on a connection of its own: for plain http and for servers without HTTP/2. */
import http, { type ClientRequest, type IncomingMessage } from "node:http";
import https from "node:https";
import type { UnreachableError } from "../errors/api-error.ts";
import type { ClusterConfig } from "../config/cluster-config.ts";
import { connectionLost, unreachable } from "../errors/connection-failure.ts";
import { tlsOptions } from "../../platform/tls-options.ts";
import type { HttpRequest, ResponseHandlers, OpenRequest } from "./http-request.ts";

/** Milliseconds of silence after which the operating system probes whether the peer still exists. */
const KEEP_ALIVE_MS = 5_000;

/** Starts a request. Every failure is reported to the handlers. */
export function openHttp1(config: ClusterConfig, request: HttpRequest, handlers: ResponseHandlers): OpenRequest {
  const { server } = config;
  const message = startRequest(config, request);
  let open = true;
  let answer: IncomingMessage | undefined;
  const finish = (error?: UnreachableError): void => {
    if (!open) return;
    open = false;
    if (error) handlers.onError(error);
    else handlers.onEnd();
  };
  message.on("socket", (socket) => socket.setKeepAlive(true, KEEP_ALIVE_MS));
  message.on("error", (error) => finish(unreachable(server, error)));
  message.on("response", (response: IncomingMessage) => {
    if (!open) return;
    answer = response;
    handlers.onResponse(response.statusCode ?? 0, (name) => {
      const value = response.headers[name];
      return Array.isArray(value) ? value.join(", ") : value;
    });
    response.on("data", (chunk: Uint8Array) => {
      if (open) handlers.onChunk(chunk);
    });
    response.on("error", (error) => finish(unreachable(server, error)));
    response.on("close", () => {
      finish(response.complete ? undefined : connectionLost(server));
    });
  });
  message.end(request.body);
  return {
    cancel: () => {
      open = false;
      message.destroy();
    },
    pause: () => answer?.pause(),
    resume: () => answer?.resume(),
  };
}

function startRequest(config: ClusterConfig, request: HttpRequest): ClientRequest {
  const url = new URL(config.server + request.path);
  const host = url.hostname.replace(/^\[|\]$/g, "");
  const options = {
    host,
    method: request.method,
    path: url.pathname + url.search,
    headers: { ...request.headers } as Record<string, string | string[]>,
    agent: false as const,
  };
  if (url.protocol === "http:") return http.request({ ...options, port: Number(url.port) || 80 });
  return https.request({ ...options, port: Number(url.port) || 443, ...tlsOptions(host, config.tls) });
}
