/** HTTP servers by `Bun.serve`. */
import type { HttpServer, ListenAddress, Peers, ServeOptions } from "../http-server.ts";

/** Returns the host of a request's URL or `Host` header, with its port. */
export function hostOf({ headers }: Request): string {
  return headers.get("host") ?? "";
}

/**
 * Returns an address at which a server could listen, with a free port for port 0.
 *
 * @throws Error with the system's code when none could, or another one does already.
 */
export function freeAddress(where: Pick<ServeOptions, "hostname" | "port">): ListenAddress {
  const probe = serve({ ...where, reusePort: false, fetch: () => new Response(null, { status: 503 }) });
  const { hostname, port } = probe;
  void probe.stop(true);
  return { hostname, port };
}

/** Starts to listen. @throws Error with the code of the system, such as `EADDRINUSE`. */
export function serve(options: ServeOptions): HttpServer {
  const { hostname, port, reusePort, tls, idleTimeout, largestBody, fetch } = options;
  const peers: Peers = { addressOf: (request) => server.requestIP(request)?.address };
  const server = Bun.serve({
    port,
    ...(hostname !== undefined && { hostname }),
    // Bun enables this option together with `development: false` unless it is set here.
    reusePort,
    development: false,
    ...(tls !== undefined && { http2: true, tls: { cert: tls.cert, key: tls.key } }),
    ...(idleTimeout !== undefined && { idleTimeout }),
    ...(largestBody !== undefined && { maxRequestBodySize: largestBody }),
    fetch: (request) => fetch(request, peers),
  });
  return {
    hostname: server.hostname ?? "",
    port: server.port ?? port,
    stop: (now) => server.stop(now),
  };
}
