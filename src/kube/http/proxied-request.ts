/**
 * Sends one request over HTTP/1.1 through a proxy by `fetch`, because `node:http` on Bun cannot write to a given tunnel.
 * A process has at most 256 such requests in flight; servers with HTTP/2 never need this.
 */
import { openFetchSession } from "../../platform/fetch-session.ts";
import type { ClusterConfig } from "../config/cluster-config.ts";
import { unreachable } from "../errors/connection-failure.ts";
import type { HttpRequest, ResponseHandlers, OpenRequest } from "./http-request.ts";
import { carry } from "./in-process-request.ts";

/** Starts a request. Every failure is reported to the handlers. */
export function openProxied(config: ClusterConfig, request: HttpRequest, handlers: ResponseHandlers): OpenRequest {
  const controller = new AbortController();
  run(config, { request, handlers, signal: controller.signal }).catch((error: unknown) => {
    if (!controller.signal.aborted) handlers.onError(unreachable(config.server, error));
  });
  return { cancel: () => controller.abort() };
}

async function run(
  config: ClusterConfig,
  parts: { request: HttpRequest; handlers: ResponseHandlers; signal: AbortSignal },
): Promise<void> {
  const { request, handlers, signal } = parts;
  const { server, tls, proxy } = config;
  using session = openFetchSession(tls as BunFetchRequestInitTLS);
  const response = await session.fetch(server + request.path, {
    method: request.method,
    headers: headersOf(request),
    ...(request.body !== undefined && { body: request.body }),
    signal,
    timeout: false,
    decompress: false,
    redirect: "manual",
    proxy,
    protocol: "http1.1",
  });
  await carry(response, handlers, signal);
}

function headersOf(request: HttpRequest): [string, string][] {
  const given = Object.entries({ "accept-encoding": "identity", ...request.headers });
  return given.flatMap(([name, value]) =>
    (typeof value === "string" ? [value] : value).map((one): [string, string] => [name, one]),
  );
}
