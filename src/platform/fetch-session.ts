/** A pool of connections for `fetch` that can be abandoned as a whole. */

export interface FetchSession extends Disposable {
  /**
   * @throws the error of `fetch`; its `code` is `HTTP2Unsupported` or `EPROTO` when HTTP/2 is required and the server
   * does not speak it.
   */
  fetch(url: string, init: FetchInit): Promise<Response>;
  /** Closes idle connections; active requests finish. */
  close(): void;
}

/** A request in the form of `fetch`, with options that the platforms add to the web's. */
export interface FetchInit extends RequestInit {
  /** An http or https proxy. */
  readonly proxy?: string | false | undefined;
  /** Whether compressed bodies are decompressed. */
  readonly decompress?: boolean;
  /** Switches the platform's timeout off, because callers have their own. */
  readonly timeout?: false;
  readonly protocol?: "http2" | "http1.1";
}

/** TLS settings as PEM texts; without authorities those of the system are trusted. */
export interface FetchTls {
  readonly ca?: string | undefined;
  readonly cert?: string | undefined;
  readonly key?: string | undefined;
  /** The name that the server's certificate must carry. @default the URL's */
  readonly serverName?: string | undefined;
  /** @default true */
  readonly rejectUnauthorized?: boolean | undefined;
}
