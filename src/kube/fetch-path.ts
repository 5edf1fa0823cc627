/**
 * `fetch`, over HTTP/2 or HTTP/1.1: for lists, which it parses without a text in between, and for servers that do not
 * speak HTTP/2.
 */
import { openFetchSession, type FetchSession } from "../platform/fetch-session.ts";
import type { ClusterConfig, HeaderValues, TlsSettings } from "./cluster-config.ts";
import { unreachable } from "./connection-failure.ts";
import type { Exchange, ExchangeHandlers, OpenExchange } from "./exchange.ts";
import { requestOf } from "./in-process-exchange.ts";

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

  get protocol(): "h2" | "http/1.1" {
    return this.#http2 ? "h2" : "http/1.1";
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

  /** Starts a request; every failure goes to the handlers. */
  open(exchange: Exchange, handlers: ExchangeHandlers): OpenExchange {
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
    const response = await this.send({ ...exchange, signal });
    const body = await response.bytes();
    if (signal.aborted) return;
    handlers.onResponse(response.status, (name) => response.headers.get(name) ?? undefined);
    if (body.length > 0) handlers.onChunk(body);
    handlers.onEnd();
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
      headers: request.headers as Record<string, string>,
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
