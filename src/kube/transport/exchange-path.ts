/** One kind of traffic: HTTP/2 sessions with pings, or what stands in where there is no HTTP/2. */
import type { Clock } from "../../platform/clock.ts";
import type { ClusterConfig } from "../config/cluster-config.ts";
import type { Exchange, ExchangeHandlers, OpenExchange } from "../http/exchange.ts";
import { H2Sessions } from "../http2/h2-sessions.ts";
import { openInProcess } from "../http/in-process-exchange.ts";
import type { ReadPacing } from "../http2/read-pacing.ts";

/** Carries a request to a server that does not speak HTTP/2. */
export type Http1 = (config: ClusterConfig, exchange: Exchange, handlers: ExchangeHandlers) => OpenExchange;

export interface ExchangePathOptions {
  readonly config: ClusterConfig;
  readonly clock: Clock;
  /** @default what arrives is read at once */
  readonly pacing?: ReadPacing | undefined;
  readonly streamsPerSession: number;
  /** The most sessions that take streams. @default as many as it takes */
  readonly mostSessions?: number | undefined;
  /** Milliseconds that a session without streams stays. */
  readonly idleMs: number;
  readonly http1: Http1;
}

export class ExchangePath {
  readonly #options: ExchangePathOptions;
  readonly #sessions: H2Sessions;
  /** Remembered: asking again would cost a handshake each time. */
  #http2: boolean;
  /** Open exchanges that no session carries. */
  #others = 0;

  constructor(options: ExchangePathOptions) {
    this.#options = options;
    const elsewhere = (exchange: Exchange, handlers: ExchangeHandlers): OpenExchange => {
      this.#http2 = false;
      return this.#openOther(exchange, handlers);
    };
    this.#sessions = new H2Sessions({ ...options, elsewhere });
    this.#http2 = this.#mayHttp2();
  }

  get sessions(): number {
    return this.#sessions.size + this.#others;
  }

  get streams(): number {
    return this.#sessions.streams + this.#others;
  }

  get protocol(): "h2" | "http/1.1" {
    return this.#http2 ? "h2" : "http/1.1";
  }

  /** Starts a request; every failure goes to the handlers. @throws TypeError when it cannot be sent as it is. */
  open(exchange: Exchange, handlers: ExchangeHandlers): OpenExchange {
    return this.#http2 ? this.#sessions.open(exchange, handlers) : this.#openOther(exchange, handlers);
  }

  /** Forgets what the server cannot do. */
  renew(): void {
    this.#http2 = this.#mayHttp2();
  }

  /** As `renew`, and leaves the connections behind, which may lead nowhere. */
  reconnect(): void {
    this.#sessions.renew();
    this.renew();
  }

  /** Ends the connections at once, and with them what was written to them and not sent. */
  drop(): void {
    this.#sessions.drop();
  }

  close(): void {
    this.#sessions.close();
  }

  #openOther(exchange: Exchange, handlers: ExchangeHandlers): OpenExchange {
    const { config, http1 } = this.#options;
    const start = config.answer !== undefined ? openInProcess : http1;
    this.#others++;
    let counted = true;
    const leave = () => {
      if (counted) this.#others--;
      counted = false;
    };
    const opened = start(config, exchange, {
      onResponse: (status, header) => handlers.onResponse(status, header),
      onChunk: (chunk) => handlers.onChunk(chunk),
      onEnd: () => {
        leave();
        handlers.onEnd();
      },
      onError: (error) => {
        leave();
        handlers.onError(error);
      },
    });
    return {
      cancel: () => {
        leave();
        opened.cancel();
      },
    };
  }

  #mayHttp2(): boolean {
    const { answer, server } = this.#options.config;
    return answer === undefined && server.startsWith("https:");
  }
}
