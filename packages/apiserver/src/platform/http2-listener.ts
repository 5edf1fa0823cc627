/** A TLS server for HTTP/2 and HTTP/1.1 by `node:http2`, which answers requests of the web platform and shows their sockets. */
import { once } from "node:events";
import {
  createSecureServer,
  type Http2SecureServer,
  type Http2ServerRequest,
  type Http2ServerResponse,
} from "node:http2";
import type { Socket } from "node:net";
import type { TLSSocket } from "node:tls";
import type { HttpServer } from "./http-server.ts";

export interface Http2ListenerOptions {
  readonly host: string;
  /** The port; 0 takes a free one. */
  readonly port: number;
  /** PEM texts. */
  readonly tls: { readonly cert: string; readonly key: string };
  /** The authority (PEM) of clients' certificates, for which they are asked then. @default none */
  readonly clientAuthority?: string | undefined;
  /** The most bytes of a body. `answer` gets of a larger one a part that is too large as well. */
  readonly largestBody: number;
  readonly answer: (request: Request, socket: TLSSocket) => Response | Promise<Response>;
}

/**
 * Streams of one connection at the same time, as in kube-apiserver. The platform refuses further streams, and closes
 * the connection of a client that keeps opening them.
 */
const MOST_STREAMS = 1_000;

/** Starts to listen. @throws Error when the address is not available. */
export async function listenHttp2(options: Http2ListenerOptions): Promise<HttpServer> {
  const { tls, clientAuthority } = options;
  const server = createSecureServer({
    cert: tls.cert,
    key: tls.key,
    // A client without a certificate may have a token.
    ...(clientAuthority !== undefined && { ca: clientAuthority, requestCert: true, rejectUnauthorized: false }),
    allowHTTP1: true,
    settings: { maxConcurrentStreams: MOST_STREAMS },
  });
  const sockets = new Set<Socket>();
  server.on("secureConnection", (socket: TLSSocket) => {
    sockets.add(socket);
    // Headers and body are written separately; without this option the body may wait 40 ms for the client's
    // acknowledgement.
    socket.setNoDelay(true);
    socket.on("close", () => sockets.delete(socket));
    socket.on("error", () => undefined);
  });
  server.on("request", (request: Http2ServerRequest, response: Http2ServerResponse) => {
    void serve(request, response, options);
  });
  const port = await listening(server, options);
  return {
    port,
    stop: async () => {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

function listening(server: Http2SecureServer, { host, port }: Http2ListenerOptions): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, () => {
      const address = server.address();
      resolve(typeof address === "object" && address !== null ? address.port : port);
    });
  });
}

async function serve(
  request: Http2ServerRequest,
  response: Http2ServerResponse,
  { answer, largestBody }: Http2ListenerOptions,
): Promise<void> {
  const gone = new AbortController();
  response.on("close", () => gone.abort());
  response.on("error", () => gone.abort());
  try {
    const outcome = await answer(await webRequest(request, { signal: gone.signal, largestBody }), socketOf(request));
    const headers: Record<string, string | string[]> = {};
    for (const [name, value] of outcome.headers) headers[name] = value;
    response.writeHead(outcome.status, headers);
    // A watch may have nothing to say for minutes, and its client waits for them.
    if (outcome.body !== null && !outcome.headers.has("content-length")) flushHeaders(response);
    for await (const chunk of outcome.body ?? []) {
      if (gone.signal.aborted) break;
      // A client that reads slowly must not make its answer pile up here.
      if (!response.write(chunk)) await once(response, "drain", { signal: gone.signal });
    }
    response.end();
  } catch {
    // The client disconnected in the middle of its request.
    if (response.stream === undefined) response.destroy();
    else response.stream.close();
  }
}

function socketOf(request: Http2ServerRequest): TLSSocket {
  return (request.stream?.session?.socket ?? request.socket) as TLSSocket;
}

/** Over HTTP/1.1 the response has another class, and the type for HTTP/2 lacks this method. */
function flushHeaders(response: object): void {
  (response as { flushHeaders?(): void }).flushHeaders?.();
}

async function webRequest(
  request: Http2ServerRequest,
  { signal, largestBody }: { readonly signal: AbortSignal; readonly largestBody: number },
): Promise<Request> {
  const headers = new Headers();
  for (const [name, value] of Object.entries(request.headers)) {
    if (name.startsWith(":") || value === undefined) continue;
    headers.set(name, Array.isArray(value) ? value.join(", ") : value);
  }
  // HTTP/2 has it as a pseudo-header.
  if (request.authority) headers.set("host", request.authority);
  const { method } = request;
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of method === "GET" || method === "HEAD" ? [] : request) {
    chunks.push(chunk as Uint8Array);
    // This many bytes show that the body is too large; the others are not read.
    if ((size += (chunk as Uint8Array).length) > largestBody) break;
  }
  const body = chunks.length === 0 ? {} : { body: Buffer.concat(chunks) };
  return new Request(`https://server${request.url}`, { method, headers, signal, ...body });
}
