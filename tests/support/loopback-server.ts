/** A small API server for tests, on loopback, that answers what the test says, over HTTP/2, HTTP/1.1 or plain http. */
import http, { type IncomingMessage, type ServerResponse } from "node:http";
import http2 from "node:http2";
import type { AddressInfo, Socket } from "node:net";
import { createServer as createTlsServer, type Server, type TlsOptions } from "node:tls";
import type { ClusterConfig, HeaderValues, TlsSettings } from "../../src/kube/config/cluster-config.ts";
import { createAuthority, issue } from "binnacle-apiserver";

export type Reply = ServerResponse;
export type Handler = (request: LoopbackRequest, reply: Reply) => void | Promise<void>;

export interface LoopbackRequest {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingMessage["headers"];
  readonly raw: readonly string[];
  readonly body: string;
  readonly httpVersion: string;
  /** The CN of the client's certificate. */
  readonly user: string | undefined;
  readonly socket: Socket;
}

export interface LoopbackOptions {
  /** @default "127.0.0.1" */
  readonly host?: "127.0.0.1" | "::1" | undefined;
  /** @default "h2" */
  readonly protocol?: "h2" | "http/1.1" | "plain";
  readonly port?: number;
  readonly headers?: () => HeaderValues | Promise<HeaderValues>;
  readonly reload?: () => Promise<boolean>;
  readonly proxy?: string | undefined;
}

const ca = createAuthority("loopback");
const serverCert = issue(ca, { subject: { name: "server" }, hosts: ["127.0.0.1", "::1", "localhost"] });
const clientCert = issue(ca, { subject: { name: "jane", groups: ["testers"] } });

export const loopbackTls: TlsSettings = {
  ca: ca.cert,
  cert: clientCert.cert,
  key: clientCert.key,
  serverName: undefined,
  rejectUnauthorized: true,
};

/** For servers of one's own that `loopbackTls` trusts. */
export const loopbackServerTls: { readonly cert: string; readonly key: string } = serverCert;

/** The authority of loopback servers, to issue other certificates with. */
export const loopbackAuthority = ca;

export class LoopbackServer implements AsyncDisposable {
  readonly config: ClusterConfig;
  readonly requests: LoopbackRequest[] = [];
  readonly sockets: ReadonlySet<Socket>;
  /** May be replaced at any time. */
  handler: Handler;
  readonly #close: () => void;

  constructor(parts: { config: ClusterConfig; handler: Handler; sockets: ReadonlySet<Socket>; close: () => void }) {
    this.config = parts.config;
    this.handler = parts.handler;
    this.sockets = parts.sockets;
    this.#close = parts.close;
  }

  /** Cuts every connection, as a crash does. */
  cut(): void {
    for (const socket of this.sockets) socket.destroy();
  }

  /** The requests in the form `GET /path?query`. */
  get lines(): string[] {
    return this.requests.map(({ method, path, query }) => `${method} ${path}${query.size > 0 ? `?${query}` : ""}`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#close();
    this.cut();
  }
}

export async function startLoopback(handler: Handler, options: LoopbackOptions = {}): Promise<LoopbackServer> {
  const { protocol = "h2", headers = () => NONE, reload = async () => false, proxy, host = "127.0.0.1" } = options;
  const listener = (incoming: IncomingMessage, reply: ServerResponse) => void serve(incoming, reply, () => server);
  const tls = { ca: ca.cert, cert: serverCert.cert, key: serverCert.key, requestCert: true, rejectUnauthorized: false };
  const settings = { maxConcurrentStreams: 100 };
  const listening =
    protocol === "plain"
      ? http.createServer(listener)
      : protocol === "http/1.1"
        ? http1Server({ ...tls, ALPNProtocols: ["http/1.1"] }, listener)
        : http2.createSecureServer({ ...tls, allowHTTP1: true, settings }, listener as never);
  const sockets = new Set<Socket>();
  const track = (socket: Socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
    socket.on("close", () => sockets.delete(socket));
  };
  listening.on("connection", track);
  await new Promise<void>((resolve, reject) => {
    listening.once("error", reject);
    listening.listen(options.port ?? 0, host, resolve);
  });
  const { port } = listening.address() as AddressInfo;
  const config: ClusterConfig = {
    server: `${protocol === "plain" ? "http" : "https"}://${host.includes(":") ? `[${host}]` : host}:${port}`,
    context: "loopback",
    user: "jane",
    namespace: "default",
    tls: loopbackTls,
    proxy,
    headers,
    reload,
  };
  const server = new LoopbackServer({ config, handler, sockets, close: () => listening.close() });
  return server;
}

/** As Go's, it refuses whoever offers HTTP/2 alone; Bun's `https` takes no notice of what is offered. */
function http1Server(tls: TlsOptions, listener: http.RequestListener): Server {
  const plain = http.createServer(listener);
  return createTlsServer(tls, (socket) => plain.emit("connection", socket)).on("tlsClientError", () => {});
}

const NONE: HeaderValues = {};

async function serve(incoming: IncomingMessage, reply: ServerResponse, server: () => LoopbackServer): Promise<void> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Uint8Array);
  const url = new URL(incoming.url ?? "/", "http://loopback");
  const socket = incoming.socket as Socket & { getPeerCertificate?: () => { subject?: { CN?: string } } };
  const request: LoopbackRequest = {
    method: incoming.method ?? "",
    path: url.pathname,
    query: url.searchParams,
    headers: incoming.headers,
    raw: incoming.rawHeaders,
    body: Buffer.concat(chunks).toString("utf8"),
    httpVersion: incoming.httpVersion,
    user: socket.getPeerCertificate?.()?.subject?.CN,
    socket,
  };
  server().requests.push(request);
  await server().handler(request, reply);
}

/** Answers with JSON. */
export function sendJson(
  reply: Reply,
  body: unknown,
  options: { code?: number; headers?: Record<string, string> } = {},
): void {
  reply.writeHead(options.code ?? 200, { "content-type": "application/json", ...options.headers });
  reply.end(JSON.stringify(body));
}

/** Answers with a `Status` of failure. */
export function sendStatus(
  reply: Reply,
  code: number,
  options: { reason?: string; message?: string; headers?: Record<string, string> } = {},
): void {
  const { reason, message, headers = {} } = options;
  sendJson(reply, { kind: "Status", apiVersion: "v1", status: "Failure", code, reason, message }, { code, headers });
}
