/** One HTTP/2 connection: opens it, counts its streams, and finds out by ping when nobody is there any more. */
import type { SecureSocket, SecureSocketHandlers } from "../platform/secure-socket.ts";
import type { Clock } from "../platform/clock.ts";
import { UnreachableError } from "./api-error.ts";
import type { TlsSettings } from "./cluster-config.ts";
import { unreachable } from "./connection-failure.ts";
import type { Exchange, ExchangeHandlers, OpenExchange } from "./exchange.ts";
import { H2Connection, type H2Stream } from "./h2-connection.ts";

/**
 * A ping goes out at every tick that finds the connection silent; unanswered for three ticks, the connection is given
 * up: 6 to 8 s after the link died. Ticks are counted, not time, so that a busy process does not blame the link.
 */
const TICK_MS = 2_000;
const MOST_MISSED = 3;

export interface H2SessionOptions {
  readonly server: URL;
  readonly tls: TlsSettings;
  readonly clock: Clock;
  /** Milliseconds that a session without streams stays. */
  readonly idleMs: number;
  /** Opens the connection. @returns what gives it up. */
  readonly connect: (to: Connecting) => () => void;
  /** Takes over the requests of a session whose server does not speak HTTP/2. */
  readonly elsewhere: (exchange: Exchange, handlers: ExchangeHandlers) => OpenExchange;
  readonly onClose: (session: H2Session) => void;
}

export interface Connecting {
  readonly open: (socket: SecureSocket) => SecureSocketHandlers;
  readonly failed: (error: Error) => void;
}

export class H2Session {
  readonly tls: TlsSettings;
  /** Streams open or about to be. */
  #streams = 0;
  readonly #options: H2SessionOptions;
  readonly #giveUp: () => void;
  /** Requests from before the connection. */
  readonly #early = new Set<Stream>();
  #connection: H2Connection | undefined;
  /** The server said goodbye, or speaks something else: streams may finish, new ones go elsewhere. */
  #draining = false;
  #closed = false;
  /** Something arrived since the last tick. */
  #alive = true;
  #missed = 0;
  /** Ticks without streams. */
  #idle = 0;
  #timer: Disposable | undefined;

  constructor(options: H2SessionOptions) {
    this.#options = options;
    this.tls = options.tls;
    this.#giveUp = options.connect({
      open: (socket) => this.#open(socket),
      failed: (error) => this.#end(unreachable(options.server.origin, error)),
    });
  }

  get streams(): number {
    return this.#streams;
  }

  /** Whether another stream fits; the server's own limit counts when it is lower. */
  hasRoom(limit: number): boolean {
    if (this.#draining || this.#closed) return false;
    const most = this.#connection?.maxStreams;
    return this.#streams < (most === undefined ? limit : Math.min(limit, most));
  }

  /** Sends a request, when there is a connection. */
  open(exchange: Exchange, handlers: ExchangeHandlers): OpenExchange {
    const stream = new Stream(this, exchange, handlers);
    this.#streams++;
    if (this.#connection === undefined) this.#early.add(stream);
    else this.#connection.send(stream);
    return stream;
  }

  /** Of a stream that was not told its end. */
  cancel(stream: Stream): void {
    if (!this.#early.delete(stream)) this.#connection?.cancel(stream);
    this.release();
  }

  /** A stream is gone. */
  release(): void {
    this.#streams--;
  }

  /** Takes no more streams, and ends with the last one. */
  leave(): void {
    this.#draining = true;
    if (this.#connection === undefined) {
      if (this.#streams === 0) this.close();
    } else this.#connection.close();
  }

  close(): void {
    const message = "the transport was closed";
    this.#end(new UnreachableError(this.#options.server.origin, { code: "ECONNABORTED", message }));
  }

  #open(socket: SecureSocket): SecureSocketHandlers {
    const { server, onClose, elsewhere } = this.#options;
    const early = [...this.#early];
    this.#early.clear();
    if (socket.protocol !== "h2") {
      this.#draining = true;
      this.#closed = true;
      onClose(this);
      socket.close();
      for (const stream of early) stream.go(elsewhere);
      return DEAF;
    }
    const connection = new H2Connection(socket, {
      server,
      onAlive: () => {
        this.#alive = true;
      },
      onGoAway: () => {
        this.#draining = true;
      },
      onClose: (error) => this.#end(error),
    });
    this.#connection = connection;
    this.#watchOver();
    for (const stream of early) connection.send(stream);
    return connection;
  }

  #watchOver(): void {
    this.#timer = this.#options.clock.setTimeout(() => this.#tick(), TICK_MS);
  }

  #tick(): void {
    const { server, idleMs } = this.#options;
    if (this.#streams === 0) {
      if (++this.#idle * TICK_MS >= idleMs) return this.close();
    } else {
      this.#idle = 0;
      if (this.#alive) this.#missed = 0;
      else if (++this.#missed >= MOST_MISSED) {
        const message = `a ping was not answered for ${(TICK_MS * MOST_MISSED) / 1_000} s`;
        return this.#end(new UnreachableError(server.origin, { code: "ENETRESET", message }));
      }
      this.#alive = false;
      if (this.#missed === 0) this.#connection?.ping();
    }
    this.#watchOver();
  }

  #end(failure: UnreachableError): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#timer?.[Symbol.dispose]();
    this.#options.onClose(this);
    if (this.#connection === undefined) this.#giveUp();
    else this.#connection.destroy(failure);
    const early = [...this.#early];
    this.#early.clear();
    for (const stream of early) stream.fail(failure);
  }
}

/** Of a connection that is of no use. */
const DEAF: SecureSocketHandlers = { onData() {}, onDrain() {}, onClose() {} };

class Stream implements H2Stream, OpenExchange {
  id = 0;
  window = 0;
  unsent: Uint8Array | undefined = undefined;
  answered = false;
  received = 0;
  readonly exchange: Exchange;
  readonly handlers: ExchangeHandlers;
  readonly #session: H2Session;
  #isOpen = true;
  /** Who carries it instead of the session. */
  #other: OpenExchange | undefined;

  constructor(session: H2Session, exchange: Exchange, handlers: ExchangeHandlers) {
    this.#session = session;
    this.exchange = exchange;
    this.handlers = handlers;
  }

  ended(): void {
    this.#isOpen = false;
    this.#session.release();
  }

  fail(error: UnreachableError): void {
    this.ended();
    this.handlers.onError(error);
  }

  go(elsewhere: (exchange: Exchange, handlers: ExchangeHandlers) => OpenExchange): void {
    this.ended();
    this.#other = elsewhere(this.exchange, this.handlers);
  }

  cancel(): void {
    this.#other?.cancel();
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#session.cancel(this);
  }
}
