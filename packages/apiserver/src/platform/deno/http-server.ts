/** HTTPS servers by `Deno.serve`. */
import type { HttpServer, ServeOptions } from "../http-server.ts";

/** The members of Deno's global object that are used here, for a type checker that knows another runtime. */
interface DenoRuntime {
  serve(
    options: {
      readonly hostname: string;
      readonly port: number;
      readonly cert: string;
      readonly key: string;
      readonly signal: AbortSignal;
      readonly onListen: () => void;
      readonly onError: (error: unknown) => Response;
    },
    handler: (request: Request) => Response | Promise<Response>,
  ): { readonly addr: { readonly port: number }; readonly finished: Promise<void> };
}

const deno = (globalThis as unknown as { readonly Deno: DenoRuntime }).Deno;

/** Whether headers of a response over HTTP/2 are sent only together with the first byte of its body. */
export const holdsHeaders: boolean = false;

/**
 * Returns the host of a request, with its port. HTTP/2 sends it as a pseudo-header, which Deno puts only into the URL.
 */
export function hostOf({ headers, url }: Request): string {
  const host = headers.get("host");
  if (host !== null) return host;
  const start = url.indexOf("//") + 2;
  return url.slice(start, url.indexOf("/", start));
}

/** Starts to listen. @throws Error with the code of the system, such as `EADDRINUSE`. */
export async function serve({ hostname, port, tls, largestBody, fetch }: ServeOptions): Promise<HttpServer> {
  const end = new AbortController();
  const options = {
    hostname,
    port,
    cert: tls.cert,
    key: tls.key,
    signal: end.signal,
    onListen: () => {},
    onError: (error: unknown) => {
      console.error(error);
      return new Response(null, { status: 500 });
    },
  };
  const server = deno.serve(options, (request) => {
    if (request.body === null) return fetch(request);
    const length = request.headers.get("content-length");
    if (Number(length ?? 0) > largestBody) return new Response(null, { status: 413 });
    return fetch(length === null ? bounded(request, largestBody) : request);
  });
  // A server that has ended must not be aborted: Deno would throw an error that nobody can catch.
  let hasEnded = false;
  const ended = server.finished.finally(() => (hasEnded = true));
  return {
    port: server.addr.port,
    stop: async () => {
      if (!hasEnded) end.abort();
      await ended;
    },
  };
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
