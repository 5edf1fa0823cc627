/** Carries requests by `fetch`: to servers without HTTP/2, to a server in this process, and for the probe. */
import { openFetchSession } from "#runtime/fetch-session";
import type { FetchSession } from "../../platform/fetch-session.ts";
import type { ClusterConfig, TlsSettings } from "../config/cluster-config.ts";
import type { OpenHttp1 } from "./http-carrier.ts";
import { openLazyHttp1 } from "../http/lazy-http1.ts";
import { type FetchRequest, openFetched, requestOf } from "../http/fetched-request.ts";

export class FetchCarrier {
  readonly #config: ClusterConfig;
  readonly #allowsHttp2: boolean;
  /** The TLS settings of the session; a plugin may replace the client certificate. */
  #tls: TlsSettings;
  #session: FetchSession;
  /**
   * Whether the server has HTTP/2; the first request finds out, because negotiating again would cost a handshake each
   * time.
   */
  #http2: boolean;

  /** @param allowsHttp2 whether HTTP/2 is used where the server has it. */
  constructor(config: ClusterConfig, allowsHttp2: boolean) {
    this.#config = config;
    this.#allowsHttp2 = allowsHttp2;
    this.#tls = config.tls;
    this.#session = openFetchSession(config.tls);
    this.#http2 = this.#mayHttp2();
  }

  /** Sends a request. @throws the error of `fetch`. */
  async send(request: FetchRequest): Promise<Response> {
    this.#config.renew?.();
    if (this.#config.tls !== this.#tls) this.#reopen();
    if (this.#http2) {
      try {
        return await this.#fetch(request, this.#session, "http2");
      } catch (error) {
        if (!mayLackHttp2(error)) throw error;
      }
      // It is remembered only if HTTP/1.1 works: a handshake may fail for other reasons.
      const response = await this.#fetch(request, this.#session, "http1.1");
      this.#http2 = false;
      return response;
    }
    return this.#fetch(request, this.#session, "http1.1");
  }

  /**
   * Starts a request to a server without HTTP/2; one with several values of a header, which `fetch` would join, takes
   * `node:http`.
   */
  readonly http1: OpenHttp1 = (config, request, handlers) =>
    Object.values(request.headers).some((value) => typeof value !== "string")
      ? openLazyHttp1(config, request, handlers)
      : openFetched(config, handlers, async (signal, carry) => carry(await this.send({ ...request, signal })));

  /** Sends a request on a new connection of its own, which shows whether new connections work. */
  async sendAlone(request: FetchRequest): Promise<Response> {
    this.#config.renew?.();
    const session = openFetchSession(this.#config.tls);
    try {
      return await this.#fetch(request, session, "http1.1");
    } finally {
      session.close();
    }
  }

  /** Abandons the connections, which may be dead, and forgets that the server has no HTTP/2. */
  renew(): void {
    this.#reopen();
    this.#http2 = this.#mayHttp2();
  }

  close(): void {
    this.#session.close();
  }

  #reopen(): void {
    this.#session.close();
    this.#tls = this.#config.tls;
    this.#session = openFetchSession(this.#tls);
  }

  #fetch(request: FetchRequest, session: FetchSession, protocol: "http2" | "http1.1"): Promise<Response> {
    const { server, proxy, answer } = this.#config;
    if (answer !== undefined) return answer(requestOf(this.#config, request));
    return session.fetch(server + request.path, {
      method: request.method,
      // Callers that ask for compression decompress themselves, within their limits.
      headers: { "accept-encoding": "identity", ...(request.headers as Record<string, string>) },
      decompress: false,
      body: request.body as string,
      signal: request.signal,
      // Responses are read in full; deadlines are the caller's.
      timeout: false,
      redirect: "manual",
      proxy: proxy ?? false,
      protocol,
    });
  }

  #mayHttp2(): boolean {
    const { answer, proxy, server } = this.#config;
    return this.#allowsHttp2 && answer === undefined && proxy === undefined && server.startsWith("https:");
  }
}

/**
 * A server without ALPN continues without HTTP/2; one with ALPN, such as kube-apiserver with `--disable-http2-serving`,
 * ends the handshake. Nothing of the request was sent in either case.
 */
function mayLackHttp2(error: unknown): boolean {
  return error instanceof Error && "code" in error && (error.code === "HTTP2Unsupported" || error.code === "EPROTO");
}
