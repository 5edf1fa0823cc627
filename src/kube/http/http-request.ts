/** An HTTP request and the handlers of its response, whatever HTTP version carries it. */
import type { UnreachableError } from "../errors/api-error.ts";
import type { HeaderValues } from "../config/cluster-config.ts";

export interface HttpRequest {
  readonly method: string;
  /** The path with the query. */
  readonly path: string;
  /** Header fields; the names are in lower case. */
  readonly headers: HeaderValues;
  readonly body?: string | undefined;
}

/**
 * The handlers of a response, called in the order `onResponse, onChunk*, (onEnd | onError)`; `onError` may be called at
 * any time, once. None of them may throw, because other requests share the connection.
 */
export interface ResponseHandlers {
  /**
   * Whether the request may still be sent. Called just before the first byte, which may be long after the request was
   * started, and again before each remaining part that had to wait. A request that may not be sent cancels itself.
   * @default true
   */
  mayBeSent?(): boolean;
  onResponse(status: number, header: (name: string) => string | undefined): void;
  onChunk(chunk: Uint8Array): void;
  /** The response is complete. */
  onEnd(): void;
  /** The connection failed. It is not called after `cancel`. */
  onError(error: UnreachableError): void;
}

export interface OpenRequest {
  /** Ends the request; its handlers are not called again. */
  cancel(): void;
  /** Makes the server wait before it sends more of the body; bytes under way still arrive. */
  pause(): void;
  resume(): void;
}
