/** One HTTP/2 connection: counts its streams and finds out by ping when nobody is there any more. */
import http2, { type ClientHttp2Session } from "node:http2";
import type { TLSSocket } from "node:tls";
import type { Clock } from "../platform/clock.ts";
import { UnreachableError } from "./api-error.ts";
import type { TlsSettings } from "./cluster-config.ts";
import { unreachable } from "./connection-failure.ts";
import type { Exchange, ExchangeHandlers, OpenExchange } from "./exchange.ts";

/**
 * A ping goes out at every tick that finds the connection silent; unanswered for three ticks, the connection is given
 * up: 6 to 8 s after the link died. Ticks are counted, not time, so that a busy process does not blame the link.
 */
const TICK_MS = 2_000;
const MOST_MISSED = 3;
/** A session without streams stays this long: a watch that ended is usually opened again. */
const IDLE_MS = 10_000;

export interface H2SessionOptions {
  readonly server: string;
  readonly tls: TlsSettings;
  readonly clock: Clock;
  /** Opens the connection; undefined when the server does not speak HTTP/2. */
  readonly connect: () => Promise<TLSSocket | undefined>;
  readonly onClose: (session: H2Session) => void;
}

export class H2Session {
  readonly tls: TlsSettings;
  /** Streams open or about to be. */
  streams = 0;
  readonly #options: H2SessionOptions;
  readonly #ready: Promise<ClientHttp2Session | undefined>;
  #session: ClientHttp2Session | undefined;
  /** Why the connection ended; the streams tell it. */
  #failure: UnreachableError | undefined;
  /** The server said goodbye: streams may finish, new ones go elsewhere. */
  #draining = false;
  /** Something arrived since the last tick. */
  #alive = true;
  #missed = 0;
  #timer: Disposable | undefined;

  constructor(options: H2SessionOptions) {
    this.#options = options;
    this.tls = options.tls;
    this.#ready = this.#connect();
    this.#ready.catch(() => {});
  }

  /** Whether another stream fits; the server's own limit counts when it is lower. */
  hasRoom(limit: number): boolean {
    if (this.#draining || this.#failure) return false;
    const most = this.#session?.remoteSettings?.maxConcurrentStreams;
    return this.streams < (most === undefined ? limit : Math.min(limit, most));
  }

  /**
   * Sends a request. The caller has counted it in `streams`; its end is counted here.
   *
   * @returns undefined when the server does not speak HTTP/2.
   * @throws UnreachableError when there is no connection.
   */
  async open(exchange: Exchange, handlers: ExchangeHandlers): Promise<OpenExchange | undefined> {
    let session: ClientHttp2Session | undefined;
    try {
      session = await this.#ready;
      if (this.#failure) throw this.#failure;
      if (session === undefined) {
        this.#release();
        return undefined;
      }
      this.#watchOver();
      return this.#request(session, exchange, handlers);
    } catch (error) {
      this.#release();
      throw unreachable(this.#options.server, error);
    }
  }

  close(): void {
    this.#end(
      new UnreachableError(this.#options.server, { code: "ECONNABORTED", message: "the transport was closed" }),
    );
  }

  async #connect(): Promise<ClientHttp2Session | undefined> {
    const { server, connect, onClose } = this.#options;
    try {
      const socket = await connect();
      if (this.#failure) {
        socket?.destroy();
        throw this.#failure;
      }
      if (!socket) {
        onClose(this);
        return undefined;
      }
      const session = http2.connect(server, { createConnection: () => socket });
      session.on("error", (error) => this.#end(unreachable(server, error)));
      session.on("close", () => this.#end(new UnreachableError(server, LOST)));
      session.on("goaway", () => {
        this.#draining = true;
      });
      this.#session = session;
      return session;
    } catch (error) {
      const failure = unreachable(server, error);
      this.#end(failure);
      throw failure;
    }
  }

  #request(session: ClientHttp2Session, exchange: Exchange, handlers: ExchangeHandlers): OpenExchange {
    const stream = session.request(
      { ":method": exchange.method, ":path": exchange.path, ...(exchange.headers as Record<string, string>) },
      { endStream: exchange.body === undefined },
    );
    let open = true;
    let ended = false;
    const finish = (error?: UnreachableError): void => {
      if (!open) return;
      open = false;
      this.#release();
      if (error) handlers.onError(error);
      else handlers.onEnd();
    };
    stream.on("response", (headers) => {
      this.#alive = true;
      if (!open) return;
      handlers.onResponse(Number(headers[":status"]), (name) => {
        const value = headers[name];
        return Array.isArray(value) ? value.join(", ") : value;
      });
    });
    stream.on("data", (chunk: Uint8Array) => {
      this.#alive = true;
      if (open) handlers.onChunk(chunk);
    });
    stream.on("end", () => {
      ended = true;
    });
    const { server } = this.#options;
    stream.on("error", (error) => finish(this.#failure ?? unreachable(server, error)));
    // `end` also comes when the connection breaks: only an orderly close of the stream makes it a complete answer.
    stream.on("close", () => {
      const whole = !this.#failure || this.#draining;
      const orderly = ended && whole && stream.rstCode === http2.constants.NGHTTP2_NO_ERROR;
      finish(orderly ? undefined : (this.#failure ?? new UnreachableError(server, LOST)));
    });
    if (exchange.body !== undefined) stream.end(exchange.body);
    return {
      cancel: () => {
        if (!open) return;
        open = false;
        this.#release();
        stream.close(http2.constants.NGHTTP2_CANCEL);
      },
    };
  }

  #release(): void {
    this.streams--;
    if (this.streams > 0) return;
    if (this.#draining) this.#session?.close();
    this.#watchOver();
  }

  /** Ticks while streams are open, then waits for the session to be wanted again. */
  #watchOver(): void {
    this.#timer?.[Symbol.dispose]();
    this.#timer = undefined;
    if (this.#failure || !this.#session) return;
    const { clock } = this.#options;
    if (this.streams > 0) this.#timer = clock.setTimeout(() => this.#tick(), TICK_MS);
    else this.#timer = clock.setTimeout(() => this.close(), IDLE_MS);
  }

  #tick(): void {
    const { server } = this.#options;
    if (this.#alive) this.#missed = 0;
    else if (++this.#missed >= MOST_MISSED) {
      const message = `a ping was not answered for ${(TICK_MS * MOST_MISSED) / 1_000} s`;
      return this.#end(new UnreachableError(server, { code: "ETIMEDOUT", message }));
    }
    this.#alive = false;
    if (this.#missed === 0) this.#ping();
    this.#watchOver();
  }

  #ping(): void {
    try {
      this.#session?.ping((error: Error | null) => {
        if (!error) this.#alive = true;
      });
    } catch (error) {
      this.#end(unreachable(this.#options.server, error));
    }
  }

  #end(failure: UnreachableError): void {
    if (this.#failure) return;
    this.#failure = failure;
    this.#timer?.[Symbol.dispose]();
    this.#options.onClose(this);
    this.#session?.destroy();
  }
}

const LOST = { code: "ECONNRESET", message: "the connection was lost" };
