/**
 * Sends one request over HTTP/1.1 through a proxy by `fetch`, because `node:http` on Bun cannot write to a given tunnel.
 * A process has at most 256 such requests in flight; servers with HTTP/2 never need this.
 */
import { openFetchSession } from "#runtime/fetch-session";
import type { ClusterConfig } from "../config/cluster-config.ts";
import { unreachable } from "../errors/connection-failure.ts";
import type { HttpRequest, ResponseHandlers, OpenRequest } from "./http-request.ts";
import { carry, type Carrying, openWith } from "./in-process-request.ts";
import { PauseGate } from "./pause-gate.ts";

/** Starts a request. Every failure is reported to the handlers. */
export function openProxied(config: ClusterConfig, request: HttpRequest, handlers: ResponseHandlers): OpenRequest {
  const controller = new AbortController();
  const gate = new PauseGate();
  run(config, request, { handlers, signal: controller.signal, gate }).catch((error: unknown) => {
    if (!controller.signal.aborted) handlers.onError(unreachable(config.server, error));
  });
  return openWith(controller, gate);
}

async function run(config: ClusterConfig, request: HttpRequest, carrying: Carrying): Promise<void> {
  const { server, tls, proxy } = config;
  using session = openFetchSession(tls);
  const response = await session.fetch(server + request.path, {
    method: request.method,
    headers: headersOf(request),
    ...(request.body !== undefined && { body: request.body }),
    signal: carrying.signal,
    timeout: false,
    decompress: false,
    redirect: "manual",
    proxy,
    protocol: "http1.1",
  });
  await carry(response, carrying);
}

function headersOf(request: HttpRequest): [string, string][] {
  const headers = Object.entries({ "accept-encoding": "identity", ...request.headers });
  return headers.flatMap(([name, value]) =>
    (typeof value === "string" ? [value] : value).map((one): [string, string] => [name, one]),
  );
}
