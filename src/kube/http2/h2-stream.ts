/** A request on its way over HTTP/2, and its answer. */
import type { UnreachableError } from "../errors/api-error.ts";
import type { HeaderValues } from "../config/cluster-config.ts";
import type { Exchange, ExchangeHandlers, OpenExchange } from "../http/exchange.ts";
import type { Outgoing } from "./h2-bodies.ts";
import { encodeHeaders, encodePath } from "./hpack.ts";

/** Who has a stream at the moment: the queue, a session, or what stands in for HTTP/2. */
export interface Carrier {
  /** Ends it without another call of its handlers. */
  cancel(stream: H2Stream): void;
  /** It has ended in whatever way; told before its handlers. */
  release(stream: H2Stream): void;
}

/** Its handlers are told one end at most, and nothing after `cancel`. */
export class H2Stream implements Outgoing, OpenExchange {
  /** 0 as long as nothing was sent. */
  id = 0;
  window = 0;
  unsent: Uint8Array | undefined = undefined;
  answered = false;
  /** Bytes received since its window was opened. */
  received = 0;
  readonly exchange: Exchange;
  readonly handlers: ExchangeHandlers;
  /** As it is sent. */
  readonly path: Uint8Array;
  readonly fields: Uint8Array;
  /** undefined when it is over. */
  #carrier: Carrier | undefined;

  /**
   * @param prefix what the server's URL has before every path.
   * @throws TypeError or URIError when it cannot be sent as it is.
   */
  constructor(exchange: Exchange, handlers: ExchangeHandlers, prefix = "") {
    this.exchange = exchange;
    this.handlers = handlers;
    this.path = encodePath(prefix + exchange.path);
    this.fields = fieldsOf(exchange.headers);
  }

  /** From now on somebody has it, in place of whoever had it before. */
  moveTo(carrier: Carrier): void {
    this.#carrier = carrier;
  }

  end(): void {
    if (this.#leave()) this.handlers.onEnd();
  }

  fail(error: UnreachableError): void {
    if (this.#leave()) this.handlers.onError(error);
  }

  /** Leaves HTTP/2. */
  go(elsewhere: (exchange: Exchange, handlers: ExchangeHandlers) => OpenExchange): void {
    if (!this.#leave()) return;
    const other = elsewhere(this.exchange, this.handlers);
    this.#carrier = { cancel: () => other.cancel(), release() {} };
  }

  cancel(): void {
    const carrier = this.#carrier;
    this.#carrier = undefined;
    carrier?.cancel(this);
  }

  /** @returns false when it was over before. */
  #leave(): boolean {
    const carrier = this.#carrier;
    this.#carrier = undefined;
    carrier?.release(this);
    return carrier !== undefined;
  }
}

/** Headers are made once for many requests, and so is what is sent of them. */
const encoded = new WeakMap<HeaderValues, Uint8Array>();

function fieldsOf(headers: HeaderValues): Uint8Array {
  let fields = encoded.get(headers);
  if (fields === undefined) {
    fields = encodeHeaders(headers);
    encoded.set(headers, fields);
  }
  return fields;
}
