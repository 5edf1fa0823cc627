/** An HTTP server that answers requests of the web platform. */

export interface ServeOptions {
  /** The address to listen on. @default all interfaces */
  readonly hostname?: string | undefined;
  /** The port; 0 takes a free one. */
  readonly port: number;
  /** Whether other servers may listen on the same port: then a port in use is not an error. */
  readonly reusePort: boolean;
  /** PEM texts. HTTP/2 is offered only over TLS. @default neither TLS nor HTTP/2 */
  readonly tls?: { readonly cert: string; readonly key: string } | undefined;
  /** Seconds after which a connection without a request is closed; 0 for never. @default the platform's */
  readonly idleTimeout?: number | undefined;
  /**
   * The largest body in bytes; larger ones are rejected with 413 or cut off while they arrive.
   *
   * @default the platform's
   */
  readonly largestBody?: number | undefined;
  readonly fetch: (request: Request, peers: Peers) => Response | Promise<Response>;
}

/** Knows where requests come from. */
export interface Peers {
  /** The address of the other end of the request's connection. */
  addressOf(request: Request): string | undefined;
}

export interface ListenAddress {
  readonly hostname: string;
  readonly port: number;
}

export interface HttpServer extends ListenAddress {
  /**
   * Accepts no more connections.
   *
   * @param now whether active requests are cut off.
   * @returns a promise that resolves when the last connection has ended.
   */
  stop(now?: boolean): Promise<void>;
}
