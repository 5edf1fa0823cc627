/** The names that errors of TLS have here. */

/** Returns the errors of the TLS library about a handshake under one code for all of them. */
export function inCommonTerms(error: Error): Error {
  const { code } = error as NodeJS.ErrnoException;
  return code?.startsWith("ERR_SSL_") === true ? Object.assign(error, { code: "EPROTO" }) : error;
}
