/** Converts the platform's connection errors to one form. */
import { messageOf } from "../../platform/error-message.ts";
import { UnreachableError } from "./api-error.ts";
import { distrust } from "./distrust.ts";

const WORDS: Readonly<Record<string, string>> = {
  ECONNREFUSED: "the connection was refused: nothing listens there",
  ECONNRESET: "the connection was lost",
  EPIPE: "the connection was lost",
  HTTP2RefusedStream: "the server refused the stream without processing the request",
  ENOTFOUND: "the host name is not known",
  EAI_AGAIN: "the host name could not be looked up",
  ETIMEDOUT: "no answer in time",
  EHOSTUNREACH: "there is no route to the host",
  ENETUNREACH: "there is no route to the network",
  EPROTO: "the TLS handshake failed: does the server speak TLS on this port?",
};

/** How long connecting may take. */
export const CONNECT_MS = 10_000;

/** The error of a connection that was not made in time. */
export function connectTimeout(server: string): UnreachableError {
  return new UnreachableError(server, { code: "ETIMEDOUT", message: `no connection within ${CONNECT_MS / 1_000} s` });
}

/** The error of a connection that ended before the answer was complete. */
export function connectionLost(server: string): UnreachableError {
  return new UnreachableError(server, { code: "ECONNRESET", message: WORDS["ECONNRESET"]! });
}

/** The error of every request, present or future, when the transport is closed. */
export function transportClosed(server: string): UnreachableError {
  return new UnreachableError(server, { code: "ECONNABORTED", message: "the transport was closed" });
}

/** Makes an {@link UnreachableError} of an error of the platform. */
export function unreachable(server: string, error: unknown): UnreachableError {
  if (error instanceof UnreachableError) return error;
  const code = codeOf(error);
  const message = WORDS[code] ?? distrust(code, error) ?? messageOf(error);
  return new UnreachableError(server, { code, message, cause: error });
}

/**
 * The server did not process the request: it had too many streams, or sent GOAWAY just before (RFC 9113, section 8.7).
 */
const REFUSED_STREAM = "HTTP2RefusedStream";

/**
 * The code of a platform error. An HTTP/2 connection that has ended is `ECONNRESET`, as over HTTP/1.1, and so is an
 * error without a code, because every other failure has one.
 */
function codeOf(error: unknown): string {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  if (typeof code !== "string" || code === "ERR_STREAM_PREMATURE_CLOSE") return "ECONNRESET";
  if (code === REFUSED_STREAM || code === "ERR_HTTP2_GOAWAY_SESSION") return REFUSED_STREAM;
  return code.startsWith("ERR_HTTP2_") || code.startsWith("HTTP2") ? "ECONNRESET" : code;
}

/** Whether the server did not begin the request, so that it may be sent again whatever it is. */
export function wasNotBegun(error: UnreachableError): boolean {
  return error.code === REFUSED_STREAM;
}

/** Whether one side of the TLS handshake was rejected: new credentials may help. */
export function isTlsFailure(error: UnreachableError): boolean {
  return /CERT|VERIFY|TLS|SSL|EPROTO|^INVALID_/.test(error.code);
}
