/**
 * Requests that are answered by a `Response`: by `fetch`, by an embedded server, or by a layer in front of a
 * connection.
 */
import type { ClusterConfig, HeaderValues } from "../config/cluster-config.ts";
import { unreachable } from "../errors/connection-failure.ts";
import type { HttpRequest, ResponseHandlers, OpenRequest } from "./http-request.ts";

export interface FetchRequest extends HttpRequest {
  readonly signal: AbortSignal;
}

/**
 * Starts a request whose response is passed to the handlers as it arrives. Every failure is reported to them.
 *
 * @param exchange sends the request, which the signal cancels, and has `carry` read the response.
 */
export function openFetched(
  { server }: ClusterConfig,
  handlers: ResponseHandlers,
  exchange: (signal: AbortSignal, carry: (response: Response) => Promise<void>) => Promise<void>,
): OpenRequest {
  const controller = new AbortController();
  const { signal } = controller;
  /** Keeps the loop from reading on. */
  let pause: PromiseWithResolvers<void> | undefined;
  const resume = (): void => {
    pause?.resolve();
    pause = undefined;
  };
  const carry = async (response: Response): Promise<void> => {
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
      if (pause === undefined) continue;
      await pause.promise;
      if (signal.aborted) return;
    }
    handlers.onEnd();
  };
  exchange(signal, carry).catch((error: unknown) => {
    if (!signal.aborted) handlers.onError(unreachable(server, error));
  });
  return {
    cancel: () => {
      controller.abort();
      resume(); // a paused loop has to see that the request is over
    },
    pause: () => void (pause ??= Promise.withResolvers()),
    resume,
  };
}

/** Starts a request to a server in this process. */
export function openInProcess(config: ClusterConfig, request: HttpRequest, handlers: ResponseHandlers): OpenRequest {
  return openFetched(config, handlers, async (signal, carry) =>
    carry(await config.answer!(requestOf(config, { ...request, signal }))),
  );
}

export function requestOf({ server }: ClusterConfig, request: FetchRequest): Request {
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
