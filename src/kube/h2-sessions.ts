/** HTTP/2 connections for one kind of traffic, with a budget of streams on each. */
import { connectSecurely } from "../platform/secure-socket.ts";
import type { Clock } from "../platform/clock.ts";
import type { ClusterConfig } from "./cluster-config.ts";
import { UnreachableError } from "./api-error.ts";
import type { Exchange, ExchangeHandlers, OpenExchange } from "./exchange.ts";
import { type Connecting, H2Session } from "./h2-session.ts";
import { connectTunnelled } from "./tunnel.ts";

/** How long connecting may take. */
const CONNECT_MS = 10_000;
/** One handshake offers both; the server chooses. */
const PROTOCOLS = ["h2", "http/1.1"];

export interface H2SessionsOptions {
  readonly config: ClusterConfig;
  readonly clock: Clock;
  /** The most streams on one session. kube-apiserver allows 100, and queues the rest without a word. */
  readonly streamsPerSession: number;
  /** Milliseconds that a session without streams stays. */
  readonly idleMs: number;
  /** Takes over the requests of a server that does not speak HTTP/2. */
  readonly elsewhere: (exchange: Exchange, handlers: ExchangeHandlers) => OpenExchange;
}

/** Opens sessions as they are needed; a session that died or said goodbye is left out at once. */
export class H2Sessions {
  readonly #options: H2SessionsOptions;
  readonly #server: URL;
  readonly #sessions = new Set<H2Session>();

  constructor(options: H2SessionsOptions) {
    this.#options = options;
    this.#server = new URL(options.config.server);
  }

  get size(): number {
    return this.#sessions.size;
  }

  get streams(): number {
    let sum = 0;
    for (const session of this.#sessions) sum += session.streams;
    return sum;
  }

  open(exchange: Exchange, handlers: ExchangeHandlers): OpenExchange {
    return (this.#find() ?? this.#add()).open(exchange, handlers);
  }

  /** Leaves the sessions behind, which may lead nowhere: their streams go on, new ones get new connections. */
  renew(): void {
    for (const session of this.#sessions) session.leave();
  }

  close(): void {
    for (const session of this.#sessions) session.close();
  }

  #find(): H2Session | undefined {
    const { config, streamsPerSession } = this.#options;
    for (const session of this.#sessions) {
      if (session.tls === config.tls && session.hasRoom(streamsPerSession)) return session;
    }
    return undefined;
  }

  #add(): H2Session {
    const { config, clock, idleMs, elsewhere } = this.#options;
    const session = new H2Session({
      server: this.#server,
      tls: config.tls,
      clock,
      idleMs,
      connect: (to) => this.#connect(to),
      elsewhere,
      onClose: (gone) => void this.#sessions.delete(gone),
    });
    this.#sessions.add(session);
    return session;
  }

  #connect(to: Connecting): () => void {
    const { config, clock } = this.#options;
    const { tls, proxy } = config;
    const server = this.#server;
    const timer = clock.setTimeout(() => {
      giveUp();
      const message = `no connection within ${CONNECT_MS / 1_000} s`;
      to.failed(new UnreachableError(server.origin, { code: "ETIMEDOUT", message }));
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
