/** One request over HTTP/1.1 on a connection of its own: plain http, and servers that do not speak HTTP/2. */
import http, { type ClientRequest, type IncomingMessage } from "node:http";
import https from "node:https";
import { isIP } from "node:net";
import { UnreachableError } from "./api-error.ts";
import type { ClusterConfig } from "./cluster-config.ts";
import { unreachable } from "./connection-failure.ts";
import { connectTls } from "./connector.ts";
import type { Exchange, ExchangeHandlers, OpenExchange } from "./exchange.ts";

/** How often the operating system asks whether the other side of a silent connection is still there. */
const KEEP_ALIVE_MS = 5_000;

/** @throws UnreachableError when the proxy cannot be reached; other failures go to the handlers. */
export async function openH1(config: ClusterConfig, exchange: Exchange, handlers: ExchangeHandlers): Promise<OpenExchange> {
  const { server } = config;
  let request: ClientRequest;
  try {
    request = await startRequest(config, exchange);
  } catch (error) {
    throw unreachable(server, error);
  }
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
    response.on("close", () =>
      finish(
        response.complete ? undefined : new UnreachableError(server, { code: "ECONNRESET", message: "the connection was lost" }),
      ),
    );
  });
  request.end(exchange.body);
  return {
    cancel: () => {
      open = false;
      request.destroy();
    },
  };
}

async function startRequest(config: ClusterConfig, exchange: Exchange): Promise<ClientRequest> {
  const url = new URL(config.server + exchange.path);
  const { proxy, tls } = config;
  const options = {
    method: exchange.method,
    path: url.pathname + url.search,
    headers: { ...exchange.headers } as Record<string, string | string[]>,
    agent: false as const,
  };
  const host = url.hostname.replace(/^\[|\]$/g, "");
  if (url.protocol === "http:") {
    if (proxy === undefined) return http.request({ ...options, host, port: Number(url.port) || 80 });
    const via = new URL(proxy);
    const start = via.protocol === "https:" ? https : http;
    const { username, password } = via;
    if (username) {
      const credentials = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
      options.headers["proxy-authorization"] = `Basic ${Buffer.from(credentials).toString("base64")}`;
    }
    options.headers["host"] = url.host;
    return start.request({ ...options, host: via.hostname, port: Number(via.port) || 80, path: url.href });
  }
  if (proxy !== undefined) {
    const socket = await connectTls({ server: url, tls, proxy, protocols: ["http/1.1"] });
    return https.request({ ...options, host, port: Number(url.port) || 443, createConnection: () => socket });
  }
  return https.request({
    ...options,
    host,
    port: Number(url.port) || 443,
    ALPNProtocols: ["http/1.1"],
    rejectUnauthorized: tls.rejectUnauthorized,
    ...(tls.ca !== undefined && { ca: tls.ca }),
    ...(tls.cert !== undefined && { cert: tls.cert }),
    ...(tls.key !== undefined && { key: tls.key }),
    ...((tls.serverName ?? !isIP(host)) && { servername: tls.serverName ?? host }),
  });
}
