/** A request over HTTP/2 and its response. */
import type { UnreachableError } from "../errors/api-error.ts";
import type { HeaderValues } from "../config/cluster-config.ts";
import type { HttpRequest, ResponseHandlers, OpenRequest } from "../http/http-request.ts";
import type { Outgoing } from "./h2-bodies.ts";
import { encodeHeaders, encodePath } from "./hpack.ts";

/** The current owner of a stream: the queue, a session, or the carrier for servers without HTTP/2. */
export interface StreamOwner {
  /** Ends the stream; its handlers are not called again. */
  cancel(stream: H2Stream): void;
  /** The stream has ended; called before its handlers. */
  release(stream: H2Stream): void;
  /** The stream is no longer paused. */
  resume(stream: H2Stream): void;
}

/** **Guarantees.** The handlers receive at most one end, and nothing after `cancel`. */
export class H2Stream implements Outgoing, OpenRequest {
  /** The stream ID; 0 until the request is sent. */
  id = 0;
  window = 0;
  unsent: Uint8Array | undefined = undefined;
  answered = false;
  /** Bytes received since the last WINDOW_UPDATE. */
  received = 0;
  /** No WINDOW_UPDATE is sent, so that the server waits once the window is used up. */
  isPaused = false;
  readonly request: HttpRequest;
  readonly handlers: ResponseHandlers;
  /** The encoded `:path`. */
  readonly path: Uint8Array;
  readonly fields: Uint8Array;
  /** `undefined` once the stream has ended. */
  #owner: StreamOwner | undefined;
  /** The request on a carrier for servers without HTTP/2. */
  #elsewhere: OpenRequest | undefined;

  /**
   * @param prefix the path of the server's URL.
   * @throws TypeError or URIError when the request is malformed.
   */
  constructor(request: HttpRequest, handlers: ResponseHandlers, prefix = "") {
    this.request = request;
    this.handlers = handlers;
    this.path = encodePath(prefix + request.path);
    this.fields = fieldsOf(request.headers);
  }

  /** Changes the owner. */
  moveTo(carrier: StreamOwner): void {
    this.#owner = carrier;
  }

  mayGoOn(): boolean {
    return this.handlers.mayBeSent?.() !== false;
  }

  end(): void {
    if (this.#leave()) this.handlers.onEnd();
  }

  fail(error: UnreachableError): void {
    if (this.#leave()) this.handlers.onError(error);
  }

  /** Hands the request over to the carrier for servers without HTTP/2. */
  handOver(elsewhere: (request: HttpRequest, handlers: ResponseHandlers) => OpenRequest): void {
    if (!this.#leave()) return;
    const other = elsewhere(this.request, this.handlers);
    if (this.isPaused) other.pause();
    this.#elsewhere = other;
    this.#owner = { cancel: () => other.cancel(), release() {}, resume: () => other.resume() };
  }

  pause(): void {
    this.isPaused = true;
    this.#elsewhere?.pause();
  }

  resume(): void {
    if (!this.isPaused) return;
    this.isPaused = false;
    this.#owner?.resume(this);
  }

  cancel(): void {
    const carrier = this.#owner;
    this.#owner = undefined;
    carrier?.cancel(this);
  }

  /** Releases the stream. @returns false when it had ended already. */
  #leave(): boolean {
    const carrier = this.#owner;
    this.#owner = undefined;
    carrier?.release(this);
    return carrier !== undefined;
  }
}

/** Many requests share one headers object, so its encoding is cached. */
const encoded = new WeakMap<HeaderValues, Uint8Array>();

function fieldsOf(headers: HeaderValues): Uint8Array {
  let fields = encoded.get(headers);
  if (fields === undefined) {
    fields = encodeHeaders(headers);
    encoded.set(headers, fields);
  }
  return fields;
}
