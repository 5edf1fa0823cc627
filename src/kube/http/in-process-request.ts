/** Requests that a function of this process answers: an embedded server, or a layer in front of a connection. */
import type { ClusterConfig, HeaderValues } from "../config/cluster-config.ts";
import { unreachable } from "../errors/connection-failure.ts";
import type { HttpRequest, ResponseHandlers, OpenRequest } from "./http-request.ts";

/** Starts a request. Every failure is reported to the handlers. */
export function openInProcess(config: ClusterConfig, request: HttpRequest, handlers: ResponseHandlers): OpenRequest {
  const gone = new AbortController();
  run(config, request, { handlers, signal: gone.signal }).catch((error: unknown) => {
    if (!gone.signal.aborted) handlers.onError(unreachable(config.server, error));
  });
  return { cancel: () => gone.abort() };
}

async function run(
  config: ClusterConfig,
  request: HttpRequest,
  { handlers, signal }: { handlers: ResponseHandlers; signal: AbortSignal },
): Promise<void> {
  await carry(await config.answer!(requestOf(config, { ...request, signal })), handlers, signal);
}

/** Passes a response to the handlers as it arrives. */
export async function carry(response: Response, handlers: ResponseHandlers, signal: AbortSignal): Promise<void> {
  const reader = response.body?.getReader();
  const leave = (): void => void reader?.cancel().catch(() => {});
  if (signal.aborted) return leave();
  signal.addEventListener("abort", leave, { once: true });
  handlers.onResponse(response.status, (name) => response.headers.get(name) ?? undefined);
  for (;;) {
    const { done = true, value } = (await reader?.read()) ?? {};
    if (signal.aborted) return;
    if (done || value === undefined) break;
    handlers.onChunk(value);
  }
  handlers.onEnd();
}

export function requestOf(
  { server }: ClusterConfig,
  request: Pick<HttpRequest, "method" | "path" | "headers" | "body"> & { readonly signal: AbortSignal },
): Request {
  const { method, path, body, signal } = request;
  return new Request(server + path, {
    method,
    headers: headersOf(request.headers),
    signal,
    ...(body !== undefined && { body }),
  });
}

function headersOf(values: HeaderValues): Headers {
  const headers = new Headers();
  for (const name in values) {
    const value = values[name]!;
    if (typeof value === "string") headers.set(name, value);
    else for (const one of value) headers.append(name, one);
  }
  return headers;
}
