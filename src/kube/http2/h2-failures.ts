/** How a stream fails over HTTP/2, told in the words of other failures. */
import { UnreachableError } from "../errors/api-error.ts";
import { unreachable } from "../errors/connection-failure.ts";
import { Flood } from "./h2-flood.ts";
import { REASONS } from "./h2-frames.ts";

/** The connection is gone; nobody may have said why. */
export function closed({ origin }: URL, error?: Error): UnreachableError {
  if (error !== undefined) return unreachable(origin, error);
  return new UnreachableError(origin, { code: "ECONNRESET", message: "the connection was lost" });
}

/** The server ended one stream, not the connection. */
export function cut({ origin }: URL, code: number): UnreachableError {
  const message = `the server cut the answer off: ${REASONS[code] ?? code}`;
  return new UnreachableError(origin, { code: "ECONNRESET", message });
}

/** In the platform's words: the request was not begun. */
export function refused({ origin }: URL): UnreachableError {
  return unreachable(origin, Object.assign(new Error("not begun"), { code: "HTTP2RefusedStream" }));
}

/** What the server sent cannot be read. */
export function broken({ origin }: URL, cause: unknown): UnreachableError {
  const reason = cause instanceof Error ? cause.message : String(cause);
  if (cause instanceof Flood) {
    return new UnreachableError(origin, { code: "EMSGSIZE", message: `the server floods: ${reason}`, cause });
  }
  const message = `the server does not keep to HTTP/2: ${reason}`;
  return new UnreachableError(origin, { code: "ECONNRESET", message, cause });
}
