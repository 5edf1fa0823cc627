/** An HTTPS server that answers requests of the web platform. */

export interface ServeOptions {
  readonly hostname: string;
  /** The port; 0 takes a free one. */
  readonly port: number;
  /** PEM texts. */
  readonly tls: { readonly cert: string; readonly key: string };
  /** The largest body in bytes; a larger one is rejected with 413, or cut off while it arrives. */
  readonly largestBody: number;
  readonly fetch: (request: Request) => Response | Promise<Response>;
}

export interface HttpServer {
  readonly port: number;
  /** Ends all requests. @returns a promise that resolves when the last connection has ended. */
  stop(): Promise<void>;
}
