/** Converts settings of TLS for `node:tls`, so that every server is verified in the same way. */
import { X509Certificate } from "node:crypto";
import { isIP } from "node:net";
import { checkServerIdentity, type ConnectionOptions } from "node:tls";
import type { FetchTls } from "./fetch-session.ts";

/**
 * Returns the options for a connection to a host, also where the connection leads through a proxy or its server name is
 * an address.
 *
 * @throws Error with a code when no authority can be read.
 */
export function tlsOptions(host: string, tls: FetchTls): ConnectionOptions {
  const { ca, cert, key, serverName, rejectUnauthorized = true } = tls;
  const name = serverName ?? host;
  return {
    // Go takes each certificate of a bundle as an anchor, an intermediate's or the server's own as well as a root's.
    ...(ca !== undefined && { ca: authorities(ca), allowPartialTrustChain: true }),
    ...(cert !== undefined && { cert }),
    ...(key !== undefined && { key }),
    rejectUnauthorized,
    // A client may not send an address as server name, but the certificate must still be for that address.
    servername: isIP(name) === 0 ? name : "",
    checkServerIdentity: (_, certificate) => checkServerIdentity(name, certificate),
  };
}

/** The last authorities that were read, because most connections have the same. */
let last: { readonly text: string; readonly certificates: string[] } | undefined;

/**
 * Returns the certificates of a file without unreadable ones, as client-go does: one of them may throw during a
 * handshake, where nobody can catch the error.
 */
function authorities(text: string): string[] {
  if (last?.text === text) return last.certificates;
  let cause: unknown;
  const certificates = (text.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? []).filter(
    (one) => {
      try {
        void new X509Certificate(one);
        return true;
      } catch (error) {
        cause = error;
        return false;
      }
    },
  );
  if (certificates.length === 0)
    throw Object.assign(new Error("Invalid CA", { cause }), { code: "ERR_SSL_INVALID_CA" });
  last = { text, certificates };
  return certificates;
}
