/** HTTPS servers by `Bun.serve`. */
import type { HttpServer, ServeOptions } from "../http-server.ts";

/** Whether headers of a response over HTTP/2 are sent only together with the first byte of its body. */
export const holdsHeaders: boolean = true;

/** Returns the host of a request's URL or `Host` header, with its port. */
export function hostOf({ headers }: Request): string {
  return headers.get("host") ?? "";
}

/** Starts to listen. @throws Error with the code of the system, such as `EADDRINUSE`. */
export async function serve({ hostname, port, tls, largestBody, fetch }: ServeOptions): Promise<HttpServer> {
  const server = Bun.serve({
    hostname,
    port,
    // Bun enables this option together with `development: false` unless it is set here.
    reusePort: false,
    development: false,
    http2: true,
    tls: { cert: tls.cert, key: tls.key },
    // Watches are silent for minutes.
    idleTimeout: 0,
    maxRequestBodySize: largestBody,
    fetch: (request) => fetch(request),
  });
  return { port: server.port ?? port, stop: () => server.stop(true) };
}
