/**
 * Sends one request over HTTP/1.1 through a proxy by `fetch`, because `node:http` on Bun cannot write to an existing
 * tunnel. A process has at most 256 such requests in flight; servers with HTTP/2 never need this.
 */
import { openFetchSession } from "#runtime/fetch-session";
import type { ClusterConfig } from "../config/cluster-config.ts";
import { openFetched } from "./fetched-request.ts";
import type { HttpRequest, ResponseHandlers, OpenRequest } from "./http-request.ts";

/** Starts a request. Every failure is reported to the handlers. */
export function openProxied(config: ClusterConfig, request: HttpRequest, handlers: ResponseHandlers): OpenRequest {
  const { server, tls, proxy } = config;
  return openFetched(config, handlers, async (signal, carry) => {
    using session = openFetchSession(tls);
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
    await carry(response);
  });
}

function headersOf(request: HttpRequest): [string, string][] {
  const headers = Object.entries({ "accept-encoding": "identity", ...request.headers });
  return headers.flatMap(([name, value]) =>
    (typeof value === "string" ? [value] : value).map((one): [string, string] => [name, one]),
  );
}
