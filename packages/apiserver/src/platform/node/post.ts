/** Requests to webhooks by `node:https`: no `fetch` of the web platform knows a server name other than the URL's. */
import { X509Certificate } from "node:crypto";
import { Agent, request as send, type RequestOptions } from "node:https";
import type { IncomingMessage } from "node:http";
import { isIP } from "node:net";
import { checkServerIdentity } from "node:tls";
import { Readable } from "node:stream";
import type { WebhookRequest } from "../webhook-request.ts";

const agent = new Agent({ keepAlive: true });

/** Posts a body; requests with the same authority and name share connections. @throws Error with the code of what failed. */
export function post({ url, headers, body, signal, ca, serverName }: WebhookRequest): Promise<Response> {
  const bytes = Buffer.from(body);
  return new Promise((resolve, reject) => {
    const options: RequestOptions = {
      method: "POST",
      agent,
      signal,
      headers: { ...headers, "accept-encoding": "identity", "content-length": String(bytes.length) },
      // As in Go, each certificate of a bundle is an anchor. The library takes intermediates by itself, and a webhook's
      // own certificate in no way.
      ...(ca !== undefined && { ca: certificatesOf(ca), allowPartialTrustChain: true }),
      // A client may not send an address as server name, but the certificate must still be for that address.
      servername: isIP(serverName) === 0 ? serverName : "",
      checkServerIdentity: (_, certificate) => checkServerIdentity(serverName, certificate),
    };
    const request = send(url, options, (message) => {
      try {
        resolve(responseOf(message));
      } catch (error) {
        message.destroy();
        reject(error);
      }
    });
    request.on("error", (error) => reject(signal.aborted ? signal.reason : inCommonTerms(error)));
    request.end(bytes);
  });
}

/**
 * Leaves out certificates that cannot be read: one of them may throw during a handshake, where nobody can catch the
 * error.
 */
function certificatesOf(text: string): string[] {
  const certificates = text.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
  const readable = certificates.filter((certificate) => {
    try {
      void new X509Certificate(certificate);
      return true;
    } catch {
      return false;
    }
  });
  if (readable.length === 0) throw Object.assign(new Error("Invalid CA"), { code: "ERR_SSL_INVALID_CA" });
  return readable;
}

/** Errors of the TLS library have one code, as they have with Bun. */
function inCommonTerms(error: NodeJS.ErrnoException): Error {
  return error.code?.startsWith("ERR_SSL_") === true ? Object.assign(error, { code: "EPROTO" }) : error;
}

/** Statuses whose responses have no body. */
const bodiless: ReadonlySet<number> = new Set([101, 204, 205, 304]);

function responseOf(message: IncomingMessage): Response {
  const { statusCode: status = 0, statusMessage: statusText = "", rawHeaders } = message;
  const headers = new Headers();
  for (let at = 0; at < rawHeaders.length; at += 2) headers.append(rawHeaders[at]!, rawHeaders[at + 1]!);
  if (!bodiless.has(status)) {
    return new Response(Readable.toWeb(message) as unknown as ReadableStream, { status, statusText, headers });
  }
  message.resume();
  return new Response(null, { status, statusText, headers });
}
