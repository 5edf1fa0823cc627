/** Long answers and the Lease: HTTP/2 sessions with pings, or HTTP/1.1 connections where there is no other way. */
import type { Clock } from "../platform/clock.ts";
import type { ClusterConfig } from "./cluster-config.ts";
import type { Exchange, ExchangeHandlers, OpenExchange } from "./exchange.ts";
import { openH1 } from "./h1-exchange.ts";
import { H2Sessions } from "./h2-sessions.ts";
import { openInProcess } from "./in-process-exchange.ts";
import { openProxied } from "./proxied-exchange.ts";

export interface ExchangePathOptions {
  readonly config: ClusterConfig;
  readonly clock: Clock;
  readonly streamsPerSession: number;
}

export interface CollectedAnswer {
  readonly status: number;
  readonly header: (name: string) => string | undefined;
  readonly body: string;
}

export class ExchangePath {
  readonly #options: ExchangePathOptions;
  readonly #sessions: H2Sessions;
  /** Remembered: asking again would cost a handshake each time. */
  #http2: boolean;
  /** Open exchanges that have a connection each, or none. */
  #alone = 0;

  constructor(options: ExchangePathOptions) {
    this.#options = options;
    this.#sessions = new H2Sessions(options);
    this.#http2 = this.#mayHttp2();
  }

  get sessions(): number {
    return this.#sessions.size + this.#alone;
  }

  get streams(): number {
    return this.#sessions.streams + this.#alone;
  }

  /** @throws UnreachableError when no connection can be made. */
  async open(exchange: Exchange, handlers: ExchangeHandlers): Promise<OpenExchange> {
    if (this.#http2) {
      const opened = await this.#sessions.open(exchange, handlers);
      if (opened) return opened;
      this.#http2 = false;
    }
    return this.#openAlone(exchange, handlers);
  }

  /** Sends a short request and reads its whole answer. @throws UnreachableError, or the signal's reason. */
  async collect(exchange: Exchange, signal: AbortSignal): Promise<CollectedAnswer> {
    signal.throwIfAborted();
    let onAbort: (() => void) | undefined;
    try {
      return await new Promise((resolve, reject) => {
        const chunks: Uint8Array[] = [];
        let status = 0;
        let header: CollectedAnswer["header"] = () => undefined;
        let opened: OpenExchange | undefined;
        onAbort = () => {
          opened?.cancel();
          reject(signal.reason);
        };
        signal.addEventListener("abort", onAbort, { once: true });
        const handlers: ExchangeHandlers = {
          onResponse: (code, read) => {
            status = code;
            header = read;
          },
          onChunk: (chunk) => void chunks.push(chunk),
          onEnd: () => resolve({ status, header, body: Buffer.concat(chunks).toString("utf8") }),
          onError: reject,
        };
        this.open(exchange, handlers).then((made) => {
          opened = made;
          if (signal.aborted) made.cancel();
        }, reject);
      });
    } finally {
      if (onAbort) signal.removeEventListener("abort", onAbort);
    }
  }

  renew(): void {
    this.#http2 = this.#mayHttp2();
  }

  close(): void {
    this.#sessions.close();
  }

  #openAlone(exchange: Exchange, handlers: ExchangeHandlers): OpenExchange {
    const { config } = this.#options;
    const start = config.answer !== undefined ? openInProcess : config.proxy === undefined ? openH1 : openProxied;
    this.#alone++;
    let counted = true;
    const leave = () => {
      if (counted) this.#alone--;
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
