/** Requests to the API server. */
import type { HeaderValues } from "../config/cluster-config.ts";
import type { WriteGate } from "./write-gate.ts";

/** Listens to the attempts of a request. */
export interface AttemptListener {
  /** An attempt is about to be sent. */
  onSend(): void;
  /** Called when the attempt has failed and another one follows later; until then no request is under way. */
  onRetry(): void;
}

export interface KubeRequest {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** The path without the query. */
  readonly path: string;
  /** The query without the question mark. */
  readonly query?: string | URLSearchParams | undefined;
  /** The body: a string is sent as it is, any other value as JSON. */
  readonly body?: unknown;
  /** @default "application/json" when there is a body */
  readonly contentType?: string | undefined;
  /** @default "application/json" */
  readonly accept?: string | undefined;
  /** Headers of this request, in addition to every request's, such as `Impersonate-User`. */
  readonly headers?: HeaderValues | undefined;
  readonly signal?: AbortSignal | undefined;
  /** The most bytes of an answer, after decompression. @default 64 MiB */
  readonly mostBytes?: number | undefined;
  /** Whether the answer is returned as bytes instead of being parsed. @default false */
  readonly binary?: boolean | undefined;
  /** Milliseconds for the whole call: its attempts and the waits between them. @default 60_000 for each attempt */
  readonly timeout?: number | undefined;
  readonly attempts?: AttemptListener | undefined;
  /** May refuse the request until its first byte is sent. @default never refuses */
  readonly gate?: WriteGate | undefined;
  /** The connections to use: a `lease` has its own, and so have lists, whose responses are long. @default "request" */
  readonly traffic?: "request" | "list" | "lease" | undefined;
}

/** Pauses a server whose response arrives faster than it is processed. */
export interface StreamFlow {
  pause(): void;
  resume(): void;
}

export interface StreamRequest extends KubeRequest {
  /** Called once, before the first piece of the body. */
  onFlow?(flow: StreamFlow): void;
  /** Called synchronously for each piece of the body as it arrives. */
  onChunk(chunk: Uint8Array): void;
  /** Called once, when the server has begun to answer with success. */
  onHeaders?(): void;
  /** Milliseconds without a byte after which the stream fails. @default none */
  readonly idleTimeout?: number | undefined;
}

/** The path with the query. */
export function pathOf(request: KubeRequest): string {
  const query = request.query === undefined ? "" : String(request.query);
  return query === "" ? request.path : `${request.path}?${query}`;
}

export function bodyOf(request: KubeRequest): string | undefined {
  const { body } = request;
  return body === undefined || typeof body === "string" ? body : JSON.stringify(body);
}
