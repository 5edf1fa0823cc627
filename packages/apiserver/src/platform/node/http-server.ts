/** HTTPS servers by `node:http2`, which speaks HTTP/1.1 too. */
import { listenHttp2 } from "../http2-listener.ts";
import type { HttpServer, ServeOptions } from "../http-server.ts";

/** Whether headers of a response over HTTP/2 are sent only together with the first byte of its body. */
export const holdsHeaders: boolean = false;

/** Returns the host of a request's `Host` header, with its port. */
export function hostOf({ headers }: Request): string {
  return headers.get("host") ?? "";
}

/** Starts to listen. @throws Error with the code of the system, such as `EADDRINUSE`. */
export function serve({ hostname, fetch, ...options }: ServeOptions): Promise<HttpServer> {
  return listenHttp2({ ...options, host: hostname, answer: fetch });
}
