/** One request and its answer as it arrives, whatever HTTP version carries it. */
import type { UnreachableError } from "../errors/api-error.ts";
import type { HeaderValues } from "../config/cluster-config.ts";

export interface Exchange {
  readonly method: string;
  /** With the query. */
  readonly path: string;
  /** Names in lower case. */
  readonly headers: HeaderValues;
  readonly body?: string | undefined;
}

/**
 * Called in the order `onResponse, onChunk*, (onEnd | onError)`; `onError` may come at any time, once. They share their
 * connection with others: none may throw.
 */
export interface ExchangeHandlers {
  /** Asked just before the first byte is sent, which may be long after the request was begun. @default true */
  mayBeSent?(): boolean;
  onResponse(status: number, header: (name: string) => string | undefined): void;
  onChunk(chunk: Uint8Array): void;
  /** The answer is complete. */
  onEnd(): void;
  /** The connection failed. Not called after `cancel`. */
  onError(error: UnreachableError): void;
}

export interface OpenExchange {
  /** Ends it without another call of the handlers. */
  cancel(): void;
}
