/** Requests that a function of this process answers: an embedded server, or a layer in front of a connection. */
import type { ClusterConfig, HeaderValues } from "../config/cluster-config.ts";
import { unreachable } from "../errors/connection-failure.ts";
import type { HttpRequest, ResponseHandlers, OpenRequest } from "./http-request.ts";
import { PauseGate } from "./pause-gate.ts";

/** Starts a request. Every failure is reported to the handlers. */
export function openInProcess(config: ClusterConfig, request: HttpRequest, handlers: ResponseHandlers): OpenRequest {
  const controller = new AbortController();
  const gate = new PauseGate();
  run(config, request, { handlers, signal: controller.signal, gate }).catch((error: unknown) => {
    if (!controller.signal.aborted) handlers.onError(unreachable(config.server, error));
  });
  return openWith(controller, gate);
}

/** A request whose response is read by {@link carry}. */
export function openWith(controller: AbortController, gate: PauseGate): OpenRequest {
  const cancel = (): void => {
    controller.abort();
    gate.resume(); // a paused loop has to see that the request is over
  };
  return { cancel, pause: () => gate.pause(), resume: () => gate.resume() };
}

/** How a response is read. */
export interface Carrying {
  readonly handlers: ResponseHandlers;
  readonly signal: AbortSignal;
  readonly gate: PauseGate;
}

async function run(config: ClusterConfig, request: HttpRequest, carrying: Carrying): Promise<void> {
  const { signal } = carrying;
  await carry(await config.answer!(requestOf(config, { ...request, signal })), carrying);
}

/** Passes a response to the handlers as it arrives. */
export async function carry(response: Response, { handlers, signal, gate }: Carrying): Promise<void> {
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
    if (gate.resumed === undefined) continue;
    await gate.resumed;
    if (signal.aborted) return;
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
