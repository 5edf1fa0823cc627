/** One HTTP/2 connection: opens it, counts its streams, and finds out by ping when nobody is there any more. */
import type { SecureSocket, SecureSocketHandlers } from "../../platform/secure-socket.ts";
import type { Clock } from "../../platform/clock.ts";
import { UnreachableError } from "../errors/api-error.ts";
import type { TlsSettings } from "../config/cluster-config.ts";
import { unreachable } from "../errors/connection-failure.ts";
import { H2Connection } from "./h2-connection.ts";
import type { Carrier, H2Stream } from "./h2-stream.ts";
import type { ReadPacing } from "./read-pacing.ts";

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
  readonly pacing: ReadPacing | undefined;
  /** Milliseconds that a session without streams stays. */
  readonly idleMs: number;
  /** Opens the connection. @returns what gives it up. */
  readonly connect: (to: Connecting) => () => void;
  /** There may be room for another stream, here or on a new session. */
  readonly onRoom: () => void;
  /** The server does not speak HTTP/2: who takes these over? The session is closed. */
  readonly onOtherProtocol: (session: H2Session, streams: readonly H2Stream[]) => void;
  /** Told before the streams are. */
  readonly onClose: (session: H2Session, failure: UnreachableError) => void;
}

export interface Connecting {
  readonly open: (socket: SecureSocket) => SecureSocketHandlers;
  readonly failed: (error: Error) => void;
}

export class H2Session implements Carrier {
  readonly tls: TlsSettings;
  /** Streams open or about to be. */
  #streams = 0;
  readonly #options: H2SessionOptions;
  readonly #giveUp: () => void;
  /** Requests from before the connection. */
  readonly #early = new Set<H2Stream>();
  #connection: H2Connection | undefined;
  /** The server said goodbye, or we did: streams may finish, new ones go elsewhere. */
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

  get isConnected(): boolean {
    return this.#connection !== undefined;
  }

  /** Whether it will take another stream now or when others have ended. */
  get isOpen(): boolean {
    return !this.#draining && !this.#closed;
  }

  /** Whether another stream fits; the server's own limit counts when it is lower. */
  hasRoom(limit: number): boolean {
    if (!this.isOpen) return false;
    const most = this.#connection?.maxStreams;
    return this.#streams < (most === undefined ? limit : Math.min(limit, most));
  }

  /** Sends a request, when there is a connection. */
  carry(stream: H2Stream): void {
    stream.moveTo(this);
    this.#streams++;
    this.#idle = 0;
    if (this.#connection === undefined) this.#early.add(stream);
    else this.#connection.send(stream);
  }

  cancel(stream: H2Stream): void {
    if (!this.#early.delete(stream)) this.#connection?.cancel(stream);
    this.release();
  }

  release(): void {
    this.#streams--;
    if (!this.#closed) this.#options.onRoom();
  }

  /** Takes no more streams, and ends with the last one. */
  leave(): void {
    this.#draining = true;
    if (this.#connection !== undefined) this.#connection.close();
    else if (this.#streams === 0) this.close();
  }

  drop(failure: UnreachableError): void {
    this.#end(failure);
  }

  close(): void {
    const message = "the transport was closed";
    this.#end(new UnreachableError(this.#options.server.origin, { code: "ECONNABORTED", message }));
  }

  #open(socket: SecureSocket): SecureSocketHandlers {
    const { server, pacing, onRoom, onOtherProtocol } = this.#options;
    if (socket.protocol !== "h2") {
      this.#closed = true;
      socket.close();
      const early = [...this.#early];
      this.#early.clear();
      onOtherProtocol(this, early);
      return DEAF;
    }
    const connection = new H2Connection(socket, {
      server,
      pacing,
      onAlive: () => {
        this.#alive = true;
      },
      onSettings: onRoom,
      onGoAway: () => {
        this.#draining = true;
        onRoom();
      },
      onClose: (error) => this.#end(error),
    });
    this.#connection = connection;
    this.#watchOver();
    for (const stream of this.#early) connection.send(stream);
    this.#early.clear();
    if (this.#draining) connection.close();
    return connection;
  }

  #watchOver(): void {
    this.#timer = this.#options.clock.setTimeout(() => this.#tick(), TICK_MS);
  }

  #tick(): void {
    const { server, idleMs } = this.#options;
    if (this.#streams === 0) {
      if (++this.#idle * TICK_MS >= idleMs) return this.close();
      this.#alive = true;
      this.#missed = 0;
    } else {
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
    this.#options.onClose(this, failure);
    if (this.#connection === undefined) this.#giveUp();
    else this.#connection.destroy(failure);
    for (const stream of this.#early) {
      this.#early.delete(stream);
      stream.fail(failure);
    }
  }
}

/** Of a connection that is of no use. */
const DEAF: SecureSocketHandlers = { onData() {}, onDrain() {}, onClose() {} };
