/** HTTP servers by `Deno.serve`. */
import type { HttpServer, ListenAddress, Peers, ServeOptions } from "../http-server.ts";
import { deno, type DenoHandler, type DenoListener, type DenoServer } from "./deno.ts";

/**
 * Returns the host of a request, with its port. HTTP/2 sends it as a pseudo-header, which Deno puts only into the URL.
 */
export function hostOf({ headers, url }: Request): string {
  const host = headers.get("host");
  if (host !== null) return host;
  const start = url.indexOf("//") + 2;
  return url.slice(start, url.indexOf("/", start));
}

/**
 * Returns an address at which a server could listen, with a free port for port 0.
 *
 * @throws Error with the system's code when none could, or another one does already.
 */
export function freeAddress({ hostname, port }: Pick<ServeOptions, "hostname" | "port">): ListenAddress {
  const listen = (name: string): DenoListener => deno.listen({ hostname: name, port });
  // A plain listener probes the port: a server would end only later and keep the port in use until then.
  const probe = hostname === undefined ? everywhere(listen) : listen(hostname);
  const free = { hostname: hostname ?? "localhost", port: probe.addr.port };
  probe.close();
  return free;
}

/** Starts to listen. @throws Error with the code of the system, such as `EADDRINUSE`. */
export function serve(options: ServeOptions): HttpServer {
  // Deno closes no connection because it is idle.
  const { hostname, port, reusePort, tls, largestBody, fetch } = options;
  const now = new AbortController();
  const listen = (name: string, handler: DenoHandler): DenoServer =>
    deno.serve(
      {
        hostname: name,
        port,
        reusePort,
        ...(tls !== undefined && { cert: tls.cert, key: tls.key }),
        signal: now.signal,
        onListen: () => {},
        onError: (error) => {
          console.error(error);
          return new Response(null, { status: 500 });
        },
      },
      handler,
    );
  const answer: DenoHandler = (request, info) => {
    const peers: Peers = { addressOf: () => info.remoteAddr.hostname };
    if (largestBody === undefined || request.body === null) return fetch(request, peers);
    const claimed = Number(request.headers.get("content-length") ?? 0);
    if (claimed > largestBody) return new Response(null, { status: 413 });
    return fetch(request.headers.has("content-length") ? request : bounded(request, largestBody), peers);
  };
  const server = hostname === undefined ? everywhere((name) => listen(name, answer)) : listen(hostname, answer);
  // A server that has ended must not be aborted: Deno would throw an error that nobody can catch.
  let hasEnded = false;
  const ended = server.finished.finally(() => (hasEnded = true));
  return {
    hostname: hostname ?? "localhost",
    port: server.addr.port,
    stop: async (atOnce = false) => {
      if (!hasEnded) {
        if (atOnce) now.abort();
        else void server.shutdown().catch(() => {});
      }
      await ended;
    },
  };
}

/** Listens on all interfaces: for both versions of IP, or for IPv4 when IPv6 is not available. */
function everywhere<T>(listen: (hostname: string) => T): T {
  try {
    return listen("::");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EADDRINUSE") throw error;
    return listen("0.0.0.0");
  }
}

/** Ends a body that does not say how long it is when it becomes too long. */
function bounded(request: Request, most: number): Request {
  let bytes = 0;
  const limit = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      bytes += chunk.length;
      if (bytes > most) controller.error(new Error("the body is too large"));
      else controller.enqueue(chunk);
    },
  });
  return new Request(request, { body: request.body!.pipeThrough(limit), duplex: "half" } as RequestInit);
}
