/** The HTTP/2 sessions for one kind of traffic, with a limit of streams for each. */
import { connectSecurely } from "#runtime/secure-socket";
import type { Clock } from "../../platform/clock.ts";
import type { ClusterConfig } from "../config/cluster-config.ts";
import type { UnreachableError } from "../errors/api-error.ts";
import { CONNECT_MS, connectTimeout, transportClosed } from "../errors/connection-failure.ts";
import type { HttpRequest, ResponseHandlers, OpenRequest } from "../http/http-request.ts";
import { dropped } from "./h2-failures.ts";
import { type Connecting, H2Session } from "./h2-session.ts";
import { type StreamOwner, H2Stream } from "./h2-stream.ts";
import type { ReadPacing } from "./read-pacing.ts";
import { connectTunnelled } from "./tunnel.ts";

/** One handshake offers both protocols; the server chooses by ALPN. */
const PROTOCOLS = ["h2", "http/1.1"];

export interface H2SessionsOptions {
  readonly config: ClusterConfig;
  readonly clock: Clock;
  /** Delays reads of busy connections. @default every read is immediate */
  readonly pacing?: ReadPacing | undefined;
  /** The most streams on one session. kube-apiserver allows 100 and silently queues the rest. */
  readonly streamsPerSession: number;
  /** The most sessions that take streams; further streams wait in order. @default unlimited */
  readonly mostSessions?: number | undefined;
  /** Milliseconds that a session without streams stays open. */
  readonly idleMs: number;
  /** Takes over the requests when the server has no HTTP/2. */
  readonly elsewhere: (request: HttpRequest, handlers: ResponseHandlers) => OpenRequest;
}

/** Opens sessions as they are needed; a session that died or received GOAWAY gets no more streams. */
export class H2Sessions implements StreamOwner {
  readonly #options: H2SessionsOptions;
  readonly #server: URL;
  /** The prefix of every path, for clusters behind a gateway. */
  readonly #prefix: string;
  readonly #sessions = new Set<H2Session>();
  /** Streams that wait for a session, in order. */
  readonly #waiting = new Set<H2Stream>();
  readonly #fill = (): void => {
    for (const stream of this.#waiting) {
      const session = this.#withRoom();
      if (session === undefined) return;
      this.#waiting.delete(stream);
      session.carry(stream);
    }
  };

  constructor(options: H2SessionsOptions) {
    this.#options = options;
    this.#server = new URL(options.config.server);
    this.#prefix = this.#server.pathname.replace(/\/$/, "");
  }

  get size(): number {
    return this.#sessions.size;
  }

  get streams(): number {
    let sum = this.#waiting.size;
    for (const session of this.#sessions) sum += session.streams;
    return sum;
  }

  /** Starts a request. @throws TypeError or URIError when the request is malformed. */
  open(request: HttpRequest, handlers: ResponseHandlers): OpenRequest {
    const stream = new H2Stream(request, handlers, this.#prefix);
    const session = this.#waiting.size > 0 ? undefined : this.#withRoom();
    if (session === undefined) {
      stream.moveTo(this);
      this.#waiting.add(stream);
    } else session.carry(stream);
    return stream;
  }

  /** Cancels a stream that waits. */
  cancel(stream: H2Stream): void {
    this.#waiting.delete(stream);
  }

  release(stream: H2Stream): void {
    this.#waiting.delete(stream);
  }

  /** Nothing has arrived for a stream that waits for a session. */
  resume(): void {}

  /** Abandons the sessions, which may be dead: their streams continue, new ones get new connections. */
  renew(): void {
    for (const session of this.#sessions) session.leave();
    this.#fill();
  }

  /** Closes the sessions at once; waiting streams get new ones. */
  drop(): void {
    const failure = dropped(this.#server);
    for (const session of this.#sessions) session.drop(failure);
    this.#fill();
  }

  close(): void {
    this.#failWaiting(transportClosed(this.#server.origin));
    for (const session of this.#sessions) session.close();
  }

  #withRoom(): H2Session | undefined {
    const { config, streamsPerSession, mostSessions = Infinity } = this.#options;
    let open = 0;
    for (const session of this.#sessions) {
      if (session.tls !== config.tls || !session.isOpen) continue;
      if (session.hasRoom(streamsPerSession)) return session;
      open++;
    }
    return open < mostSessions ? this.#add() : undefined;
  }

  #add(): H2Session {
    const { config, clock, pacing, idleMs } = this.#options;
    config.renew?.();
    const session = new H2Session({
      server: this.#server,
      tls: config.tls,
      clock,
      pacing,
      idleMs,
      connect: (to) => this.#connect(to),
      onRoom: this.#fill,
      onOtherProtocol: (session, streams) => this.#leaveHttp2(session, streams),
      onClose: (session, failure) => this.#onClose(session, failure),
    });
    this.#sessions.add(session);
    return session;
  }

  #onClose(session: H2Session, failure: UnreachableError): void {
    this.#sessions.delete(session);
    if (session.isConnected) this.#fill();
    // The only attempt to connect failed: waiting streams fail at once instead of one after the other.
    else if (this.#sessions.size === 0) this.#failWaiting(failure);
  }

  #failWaiting(failure: UnreachableError): void {
    for (const stream of this.#waiting) stream.fail(failure);
  }

  #leaveHttp2(session: H2Session, streams: readonly H2Stream[]): void {
    this.#sessions.delete(session);
    for (const stream of streams) stream.handOver(this.#options.elsewhere);
    for (const stream of this.#waiting) stream.handOver(this.#options.elsewhere);
  }

  #connect(to: Connecting): () => void {
    const { config, clock } = this.#options;
    const { tls, proxy } = config;
    const server = this.#server;
    const timer = clock.setTimeout(() => {
      giveUp();
      to.failed(connectTimeout(server.origin));
    }, CONNECT_MS);
    const settled: Connecting = {
      open: (socket) => {
        timer[Symbol.dispose]();
        return to.open(socket);
      },
      failed: (error) => {
        timer[Symbol.dispose]();
        to.failed(error);
      },
    };
    const cancel =
      proxy === undefined
        ? connectSecurely(
            {
              host: server.hostname.replace(/^\[|\]$/g, ""),
              port: Number(server.port) || 443,
              tls,
              protocols: PROTOCOLS,
            },
            settled,
          )
        : connectTunnelled({ server, tls, proxy, protocols: PROTOCOLS }, settled);
    const giveUp = (): void => {
      timer[Symbol.dispose]();
      cancel();
    };
    return giveUp;
  }
}
