/** A listener that sees its clients' certificates, which Bun's own server does not expose. */
import { X509Certificate } from "node:crypto";
import {
  createSecureServer,
  type Http2SecureServer,
  type Http2ServerRequest,
  type Http2ServerResponse,
} from "node:http2";
import type { Socket } from "node:net";
import type { TLSSocket } from "node:tls";
import type { Connection } from "./authentication/identify.ts";
import type { UserInfo } from "./hooks.ts";
import { largestBody } from "./request/body.ts";

export interface CertificateListenerOptions {
  readonly host: string;
  readonly port: number;
  readonly tls: { readonly cert: string; readonly key: string };
  /** The authority (PEM) whose certificates identify users. */
  readonly clientAuthority: string;
  readonly answer: (request: Request, connection: Connection) => Promise<Response>;
}

/** A listener of either kind. */
export interface Listener {
  readonly port: number;
  stop(): Promise<void>;
}

/**
 * Streams of one connection at the same time, as in kube-apiserver. The platform refuses further streams, and closes
 * the connection of a client that keeps opening them.
 */
const MOST_STREAMS = 1_000;

/** Starts to listen. @throws Error when the address is not available. */
export async function listenWithCertificates(options: CertificateListenerOptions): Promise<Listener> {
  const { tls, clientAuthority, answer } = options;
  const server = createSecureServer({
    ...tls,
    ca: clientAuthority,
    requestCert: true,
    // A client without a certificate may have a token.
    rejectUnauthorized: false,
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
    void serve(request, response, answer);
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

function listening(server: Http2SecureServer, { host, port }: CertificateListenerOptions): Promise<number> {
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
  answer: CertificateListenerOptions["answer"],
): Promise<void> {
  const gone = new AbortController();
  response.on("close", () => gone.abort());
  response.on("error", () => gone.abort());
  try {
    const outcome = await answer(await webRequest(request, gone.signal), { certificate: userOf(request) });
    const headers: Record<string, string | string[]> = {};
    for (const [name, value] of outcome.headers) headers[name] = value;
    response.writeHead(outcome.status, headers);
    // A watch may have nothing to say for minutes, and its client waits for them.
    if (outcome.body !== null && !outcome.headers.has("content-length")) flushHeaders(response);
    for await (const chunk of outcome.body ?? []) {
      if (gone.signal.aborted) break;
      response.write(chunk);
    }
    response.end();
  } catch {
    // The client disconnected in the middle of its request.
    response.stream?.close();
  }
}

/** Over HTTP/1.1 the response has another class, and the type for HTTP/2 lacks this method. */
function flushHeaders(response: object): void {
  (response as { flushHeaders?(): void }).flushHeaders?.();
}

async function webRequest(request: Http2ServerRequest, signal: AbortSignal): Promise<Request> {
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

const users = new WeakMap<object, { readonly user: UserInfo | undefined }>();

/** Returns the user of a certificate: CN is the name, each O a group. */
function userOf(request: Http2ServerRequest): UserInfo | undefined {
  const socket = (request.stream?.session?.socket ?? request.socket) as TLSSocket;
  const known = users.get(socket);
  if (known !== undefined) return known.user;
  const user = socket.authorized ? fromCertificate(socket) : undefined;
  users.set(socket, { user });
  return user;
}

function fromCertificate(socket: TLSSocket): UserInfo | undefined {
  const certificate = socket.getPeerCertificate();
  const { CN, O } = certificate.subject ?? {};
  if (CN === undefined) return undefined;
  const groups = O === undefined ? [] : Array.isArray(O) ? O : [O];
  const hash = new X509Certificate(certificate.raw).fingerprint256.replaceAll(":", "").toLowerCase();
  return {
    username: String(CN),
    groups: [...groups, "system:authenticated"],
    extra: { "authentication.kubernetes.io/credential-id": [`X509SHA256=${hash}`] },
  };
}
