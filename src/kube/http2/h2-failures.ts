/** Turns the ways in which an HTTP/2 stream or connection fails into the errors that every transport throws. */
import { messageOf } from "../../platform/error-message.ts";
import { UnreachableError } from "../errors/api-error.ts";
import { connectionLost, unreachable } from "../errors/connection-failure.ts";
import { Flood } from "./h2-flood.ts";
import { REASONS } from "./h2-frames.ts";

/** The connection was closed. The platform does not always say why. */
export function closed({ origin }: URL, error?: Error): UnreachableError {
  return error === undefined ? connectionLost(origin) : unreachable(origin, error);
}

/** A request on the connection must not be sent any more, and cannot be separated from the others. */
export function dropped({ origin }: URL): UnreachableError {
  const message = "the connection was dropped with a request that may not be sent any more";
  return new UnreachableError(origin, { code: "ECONNRESET", message });
}

/** The server reset one stream; the connection goes on (RFC 9113, section 6.4). */
export function cut({ origin }: URL, code: number): UnreachableError {
  const message = `the server reset the stream: ${REASONS[code] ?? code}`;
  return new UnreachableError(origin, { code: "ECONNRESET", message });
}

/** The server did not process the request, so that it may be sent again whatever it is (RFC 9113, section 8.7). */
export function refused({ origin }: URL): UnreachableError {
  return unreachable(origin, Object.assign(new Error("the stream was refused"), { code: "HTTP2RefusedStream" }));
}

/**
 * A connection error (RFC 9113, section 5.4.1): the server's bytes break the protocol, or are far more than it has a
 * reason to send.
 */
export function broken({ origin }: URL, cause: unknown): UnreachableError {
  const reason = messageOf(cause);
  if (cause instanceof Flood) {
    return new UnreachableError(origin, {
      code: "EMSGSIZE",
      message: `the server floods the connection: ${reason}`,
      cause,
    });
  }
  const message = `the server violated HTTP/2: ${reason}`;
  return new UnreachableError(origin, { code: "ECONNRESET", message, cause });
}
