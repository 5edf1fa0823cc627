/** A listener that sees its clients' certificates, which Bun's own server does not expose. */
import { X509Certificate } from "node:crypto";
import type { TLSSocket } from "node:tls";
import type { Connection } from "./authentication/identify.ts";
import type { UserInfo } from "./hooks.ts";
import type { HttpServer } from "./platform/http-server.ts";
import { listenHttp2 } from "./platform/http2-listener.ts";
import { largestBody } from "./request/body.ts";

export interface CertificateListenerOptions {
  readonly host: string;
  readonly port: number;
  readonly tls: { readonly cert: string; readonly key: string };
  /** The authority (PEM) whose certificates identify users. */
  readonly clientAuthority: string;
  readonly answer: (request: Request, connection: Connection) => Promise<Response>;
}

/** Starts to listen. @throws Error when the address is not available. */
export function listenWithCertificates({ answer, ...options }: CertificateListenerOptions): Promise<HttpServer> {
  return listenHttp2({
    ...options,
    largestBody,
    answer: (request, socket) => answer(request, connectionOf(socket)),
  });
}

const connections = new WeakMap<object, Connection>();

/** Returns the user of a certificate: CN is the name, each O a group. */
function connectionOf(socket: TLSSocket): Connection {
  let connection = connections.get(socket);
  if (connection === undefined) {
    connection = socket.authorized ? { certificate: fromCertificate(socket) } : { isForeign: hasCertificate(socket) };
    connections.set(socket, connection);
  }
  return connection;
}

function hasCertificate(socket: TLSSocket): boolean {
  return Object.keys(socket.getPeerCertificate() ?? {}).length > 0;
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
