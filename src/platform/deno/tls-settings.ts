/** How settings of TLS are said to `node:tls`, and what its errors are called here. */
import { isIP } from "node:net";
import { checkServerIdentity, type ConnectionOptions } from "node:tls";
import type { FetchTls } from "../fetch-session.ts";

/** Options for a connection to a host. */
export function tlsOptions(host: string, tls: FetchTls): ConnectionOptions {
  const { ca, cert, key, serverName, rejectUnauthorized = true } = tls;
  const name = serverName ?? host;
  return {
    ...(ca !== undefined && { ca }),
    ...(cert !== undefined && { cert }),
    ...(key !== undefined && { key }),
    rejectUnauthorized,
    // An address is no server name that a client may send; the certificate has to be for it all the same.
    servername: isIP(name) === 0 ? name : "",
    checkServerIdentity: (_, certificate) => checkServerIdentity(name, certificate),
  };
}

/** Returns what the TLS library says of a handshake under one code for all of them. */
export function inCommonTerms(error: Error): Error {
  const { code } = error as NodeJS.ErrnoException;
  return code?.startsWith("ERR_SSL_") === true ? Object.assign(error, { code: "EPROTO" }) : error;
}
