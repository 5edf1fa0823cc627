/** One HTTP/2 session: opens the connection, counts its streams, and detects a dead connection by pings. */
import type { SecureSocket, SecureSocketHandlers } from "../../platform/secure-socket.ts";
import type { Clock } from "../../platform/clock.ts";
import { UnreachableError } from "../errors/api-error.ts";
import type { TlsSettings } from "../config/cluster-config.ts";
import { transportClosed, unreachable } from "../errors/connection-failure.ts";
import { H2Connection } from "./h2-connection.ts";
import type { StreamOwner, H2Stream } from "./h2-stream.ts";
import type { ReadPacing } from "./read-pacing.ts";

/**
 * At each tick that finds the connection silent a ping is sent; after three ticks without an answer the connection is
 * closed, 6 to 8 s after the link died. Ticks are counted instead of time, so that a busy process does not blame the
 * link.
 */
const TICK_MS = 2_000;
const MOST_MISSED = 3;

export interface H2SessionOptions {
  readonly server: URL;
  readonly tls: TlsSettings;
  readonly clock: Clock;
  readonly pacing: ReadPacing | undefined;
  /** Milliseconds that a session without streams stays open. */
  readonly idleMs: number;
  /** Opens the connection. @returns a function that gives it up. */
  readonly connect: (to: Connecting) => () => void;
  /** Another stream may fit, here or on a new session. */
  readonly onRoom: () => void;
  /** Called when the server has no HTTP/2: the session is closed, and these streams need another carrier. */
  readonly onOtherProtocol: (session: H2Session, streams: readonly H2Stream[]) => void;
  /** Called before the handlers of the streams. */
  readonly onClose: (session: H2Session, failure: UnreachableError) => void;
}

export interface Connecting {
  readonly open: (socket: SecureSocket) => SecureSocketHandlers;
  readonly failed: (error: Error) => void;
}

export class H2Session implements StreamOwner {
  readonly tls: TlsSettings;
  /** Streams that are open or about to be. */
  #streams = 0;
  readonly #options: H2SessionOptions;
  readonly #giveUp: () => void;
  /** Streams that wait for the connection. */
  readonly #early = new Set<H2Stream>();
  #connection: H2Connection | undefined;
  /** One side has sent GOAWAY: streams may finish, new ones need another session. */
  #draining = false;
  #closed = false;
  /** Bytes have arrived since the last tick. */
  #alive = true;
  #missed = 0;
  /** Consecutive ticks without streams. */
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

  /** Whether the session takes another stream, now or once others have ended. */
  get isOpen(): boolean {
    return !this.#draining && !this.#closed;
  }

  /** Whether another stream fits within `limit` and the server's own limit. */
  hasRoom(limit: number): boolean {
    if (!this.isOpen) return false;
    const most = this.#connection?.maxStreams;
    return this.#streams < (most === undefined ? limit : Math.min(limit, most));
  }

  /** Sends a request, once there is a connection. */
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

  resume(stream: H2Stream): void {
    this.#connection?.resume(stream);
  }

  /** Takes no more streams, and closes after the last one. */
  leave(): void {
    this.#draining = true;
    if (this.#connection !== undefined) this.#connection.close();
    else if (this.#streams === 0) this.close();
  }

  drop(failure: UnreachableError): void {
    this.#end(failure);
  }

  close(): void {
    this.#end(transportClosed(this.#options.server.origin));
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

/** The handlers of a connection that is not used. */
const DEAF: SecureSocketHandlers = { onData() {}, onDrain() {}, onClose() {} };
