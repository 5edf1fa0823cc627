/**
 * Carries the requests of one kind of traffic over HTTP/2 sessions, or over HTTP/1.1 where the server has no HTTP/2.
 */
import type { Clock } from "../../platform/clock.ts";
import type { ClusterConfig } from "../config/cluster-config.ts";
import type { HttpRequest, ResponseHandlers, OpenRequest } from "../http/http-request.ts";
import { H2Sessions } from "../http2/h2-sessions.ts";
import { openInProcess } from "../http/fetched-request.ts";
import type { ReadPacing } from "../http2/read-pacing.ts";

/** Starts a request to a server without HTTP/2. */
export type OpenHttp1 = (config: ClusterConfig, request: HttpRequest, handlers: ResponseHandlers) => OpenRequest;

export interface HttpCarrierOptions {
  readonly config: ClusterConfig;
  readonly clock: Clock;
  /** Whether HTTP/2 is used where the server has it. */
  readonly http2: boolean;
  /** Delays reads of busy connections. @default every read is immediate */
  readonly pacing?: ReadPacing | undefined;
  readonly streamsPerSession: number;
  /** The most sessions that take streams. @default unlimited */
  readonly mostSessions?: number | undefined;
  /** Milliseconds that a session without streams stays open. */
  readonly idleMs: number;
  readonly http1: OpenHttp1;
}

export class HttpCarrier {
  readonly #options: HttpCarrierOptions;
  readonly #sessions: H2Sessions;
  /** Whether the server has HTTP/2; remembered, because negotiating again would cost a handshake each time. */
  #http2: boolean;
  /** The number of open requests that no HTTP/2 session carries. */
  #withoutHttp2 = 0;

  constructor(options: HttpCarrierOptions) {
    this.#options = options;
    const elsewhere = (request: HttpRequest, handlers: ResponseHandlers): OpenRequest => {
      this.#http2 = false;
      return this.#openWithoutHttp2(request, handlers);
    };
    this.#sessions = new H2Sessions({ ...options, elsewhere });
    this.#http2 = this.#mayHttp2();
  }

  get sessions(): number {
    return this.#sessions.size + this.#withoutHttp2;
  }

  get streams(): number {
    return this.#sessions.streams + this.#withoutHttp2;
  }

  get protocol(): "h2" | "http/1.1" {
    return this.#http2 ? "h2" : "http/1.1";
  }

  /** Starts a request. Failures are reported to the handlers. @throws TypeError when the request is malformed. */
  open(request: HttpRequest, handlers: ResponseHandlers): OpenRequest {
    return this.#http2 ? this.#sessions.open(request, handlers) : this.#openWithoutHttp2(request, handlers);
  }

  /** Forgets that the server has no HTTP/2. */
  renew(): void {
    this.#http2 = this.#mayHttp2();
  }

  /** Like `renew`, and also abandons the connections, which may be dead. */
  reconnect(): void {
    this.#sessions.renew();
    this.renew();
  }

  /** Closes the connections at once, and discards bytes that were written but not sent. */
  drop(): void {
    this.#sessions.drop();
  }

  close(): void {
    this.#sessions.close();
  }

  #openWithoutHttp2(request: HttpRequest, handlers: ResponseHandlers): OpenRequest {
    const { config, http1 } = this.#options;
    const start = config.answer !== undefined ? openInProcess : http1;
    this.#withoutHttp2++;
    let counted = true;
    const leave = () => {
      if (counted) this.#withoutHttp2--;
      counted = false;
    };
    const opened = start(config, request, {
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
      pause: () => opened.pause(),
      resume: () => opened.resume(),
    };
  }

  #mayHttp2(): boolean {
    const { config, http2 } = this.#options;
    return http2 && config.answer === undefined && config.server.startsWith("https:");
  }
}
