/** Carries requests over HTTP/1.1 by `fetch`: to servers without HTTP/2, and for the probe. */
import { openFetchSession } from "#runtime/fetch-session";
import type { FetchSession } from "../../platform/fetch-session.ts";
import type { ClusterConfig, TlsSettings } from "../config/cluster-config.ts";
import type { OpenHttp1 } from "./http-carrier.ts";
import { openLazyHttp1 } from "../http/lazy-http1.ts";
import { type FetchRequest, openFetched, requestOf } from "../http/fetched-request.ts";

export class FetchCarrier {
  readonly #config: ClusterConfig;
  /** The TLS settings of the session; a plugin may replace the client certificate. */
  #tls: TlsSettings;
  #session: FetchSession;

  constructor(config: ClusterConfig) {
    this.#config = config;
    this.#tls = config.tls;
    this.#session = openFetchSession(config.tls);
  }

  /** Sends a request. @throws the error of `fetch`. */
  async send(request: FetchRequest): Promise<Response> {
    this.#config.renew?.();
    if (this.#config.tls !== this.#tls) this.renew();
    return this.#fetch(request, this.#session);
  }

  /**
   * Starts a request to a server without HTTP/2. A request with several values of one header, which `fetch` would join,
   * goes through `node:http`.
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
      return await this.#fetch(request, session);
    } finally {
      session.close();
    }
  }

  /** Abandons the connections, which may be dead. */
  renew(): void {
    this.#session.close();
    this.#tls = this.#config.tls;
    this.#session = openFetchSession(this.#tls);
  }

  close(): void {
    this.#session.close();
  }

  #fetch(request: FetchRequest, session: FetchSession): Promise<Response> {
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
      protocol: "http1.1",
    });
  }
}
