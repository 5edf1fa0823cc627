/** The names that errors of TLS have here. */

/** Returns what the TLS library says of a handshake under one code for all of them. */
export function inCommonTerms(error: Error): Error {
  const { code } = error as NodeJS.ErrnoException;
  return code?.startsWith("ERR_SSL_") === true ? Object.assign(error, { code: "EPROTO" }) : error;
}
