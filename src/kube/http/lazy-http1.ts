/** Requests to a server without HTTP/2; the code for them is loaded by the first one. */
import type { ClusterConfig } from "../config/cluster-config.ts";
import { unreachable } from "../errors/connection-failure.ts";
import type { HttpRequest, ResponseHandlers, OpenRequest } from "./http-request.ts";

/** Starts a request on a connection of its own. Every failure is reported to the handlers. */
export function openLazyHttp1(config: ClusterConfig, request: HttpRequest, handlers: ResponseHandlers): OpenRequest {
  let opened: OpenRequest | undefined;
  let isOver = false;
  const start = async (): Promise<void> => {
    const open =
      config.proxy === undefined
        ? (await import("./http1-request.ts")).openHttp1
        : (await import("./proxied-request.ts")).openProxied;
    config.renew?.();
    if (!isOver) opened = open(config, request, handlers);
  };
  start().catch((error: unknown) => handlers.onError(unreachable(config.server, error)));
  return {
    cancel: () => {
      isOver = true;
      opened?.cancel();
    },
    // Nothing arrives before the request is open.
    pause: () => opened?.pause(),
    resume: () => opened?.resume(),
  };
}
