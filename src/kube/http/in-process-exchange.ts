/** Requests to a server that is no connection away: a function of this process, or one that stands before a connection. */
import type { ClusterConfig, HeaderValues } from "../config/cluster-config.ts";
import { unreachable } from "../errors/connection-failure.ts";
import type { Exchange, ExchangeHandlers, OpenExchange } from "./exchange.ts";

/** Starts a request; every failure goes to the handlers. */
export function openInProcess(config: ClusterConfig, exchange: Exchange, handlers: ExchangeHandlers): OpenExchange {
  const gone = new AbortController();
  run(config, exchange, { handlers, signal: gone.signal }).catch((error: unknown) => {
    if (!gone.signal.aborted) handlers.onError(unreachable(config.server, error));
  });
  return { cancel: () => gone.abort() };
}

async function run(
  config: ClusterConfig,
  exchange: Exchange,
  { handlers, signal }: { handlers: ExchangeHandlers; signal: AbortSignal },
): Promise<void> {
  await carry(await config.answer!(requestOf(config, { ...exchange, signal })), handlers, signal);
}

/** Tells an answer as it comes. */
export async function carry(response: Response, handlers: ExchangeHandlers, signal: AbortSignal): Promise<void> {
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
  request: Pick<Exchange, "method" | "path" | "headers" | "body"> & { readonly signal: AbortSignal },
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
