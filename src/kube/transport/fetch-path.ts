/** `fetch`: for servers that do not speak HTTP/2, for a server in this process, and for the probe. */
import { openFetchSession, type FetchSession } from "../../platform/fetch-session.ts";
import type { ClusterConfig, HeaderValues, TlsSettings } from "../config/cluster-config.ts";
import { unreachable } from "../errors/connection-failure.ts";
import type { Http1 } from "./exchange-path.ts";
import type { Exchange, ExchangeHandlers, OpenExchange } from "../http/exchange.ts";
import { openHttp1 } from "../http/http1-exchange.ts";
import { carry, requestOf } from "../http/in-process-exchange.ts";

export interface FetchRequest {
  readonly method: string;
  /** With the query. */
  readonly path: string;
  readonly headers: HeaderValues;
  readonly body?: string | undefined;
  readonly signal: AbortSignal;
}

export class FetchPath {
  readonly #config: ClusterConfig;
  /** Of the session: a plugin may replace the client certificate. */
  #tls: TlsSettings;
  #session: FetchSession;
  /** Found out by the first request and remembered: asking again would cost a handshake each time. */
  #http2: boolean;

  constructor(config: ClusterConfig) {
    this.#config = config;
    this.#tls = config.tls;
    this.#session = open(config.tls);
    this.#http2 = this.#mayHttp2();
  }

  /** @throws what `fetch` throws. */
  async send(request: FetchRequest): Promise<Response> {
    this.#config.renew?.();
    if (this.#config.tls !== this.#tls) this.#reopen();
    if (this.#http2) {
      try {
        return await this.#fetch(request, this.#session, "http2");
      } catch (error) {
        if (!mayLackHttp2(error)) throw error;
      }
      // Only what the other protocol can do is remembered: a handshake may fail for other reasons.
      const response = await this.#fetch(request, this.#session, "http1.1");
      this.#http2 = false;
      return response;
    }
    return this.#fetch(request, this.#session, "http1.1");
  }

  /** Carries requests to a server without HTTP/2; those with several values of a header, which `fetch` would join, otherwise. */
  readonly http1: Http1 = (config, exchange, handlers) =>
    Object.values(exchange.headers).some((value) => typeof value !== "string")
      ? openHttp1(config, exchange, handlers)
      : this.#open(exchange, handlers);

  /** Starts a request; every failure goes to the handlers. */
  #open(exchange: Exchange, handlers: ExchangeHandlers): OpenExchange {
    const controller = new AbortController();
    this.#carry(exchange, handlers, controller.signal).catch((error: unknown) => {
      if (!controller.signal.aborted) handlers.onError(unreachable(this.#config.server, error));
    });
    return { cancel: () => controller.abort() };
  }

  /** Sends on a connection that nothing else uses: it tells whether a new connection works. */
  async sendAlone(request: FetchRequest): Promise<Response> {
    this.#config.renew?.();
    const session = open(this.#config.tls);
    try {
      return await this.#fetch(request, session, "http1.1");
    } finally {
      session.close();
    }
  }

  /** Leaves the connections behind, which may lead nowhere, and forgets what the server cannot do. */
  renew(): void {
    this.#reopen();
    this.#http2 = this.#mayHttp2();
  }

  close(): void {
    this.#session.close();
  }

  async #carry(exchange: Exchange, handlers: ExchangeHandlers, signal: AbortSignal): Promise<void> {
    await carry(await this.send({ ...exchange, signal }), handlers, signal);
  }

  #reopen(): void {
    this.#session.close();
    this.#tls = this.#config.tls;
    this.#session = open(this.#tls);
  }

  #fetch(request: FetchRequest, session: FetchSession, protocol: "http2" | "http1.1"): Promise<Response> {
    const { server, proxy, answer } = this.#config;
    if (answer !== undefined) return answer(requestOf(this.#config, request));
    return session.fetch(server + request.path, {
      method: request.method,
      // Compression is for those who ask for it, and decompress no further than they want to read.
      headers: { "accept-encoding": "identity", ...(request.headers as Record<string, string>) },
      decompress: false,
      body: request.body as string,
      signal: request.signal,
      // Its answers are read in full; deadlines are the caller's.
      timeout: false,
      redirect: "manual",
      proxy: proxy ?? false,
      protocol,
    });
  }

  #mayHttp2(): boolean {
    return (
      this.#config.answer === undefined && this.#config.proxy === undefined && this.#config.server.startsWith("https:")
    );
  }
}

function open(tls: TlsSettings): FetchSession {
  return openFetchSession(tls as BunFetchRequestInitTLS);
}

/**
 * A server that does not know ALPN goes on without HTTP/2; one that knows it, such as kube-apiserver with
 * `--disable-http2-serving`, ends the handshake. Nothing was sent in either case.
 */
function mayLackHttp2(error: unknown): boolean {
  return error instanceof Error && "code" in error && (error.code === "HTTP2Unsupported" || error.code === "EPROTO");
}
