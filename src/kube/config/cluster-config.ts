/** The result of reading a kubeconfig: how to reach a cluster, and as which user. */

/** A list is sent as one header line per value, as `Impersonate-Group` needs it. */
export type HeaderValues = Readonly<Record<string, string | readonly string[]>>;

/** PEM text, in the terms of `fetch`. A changed credential gives a new object; an unchanged one keeps its identity. */
export interface TlsSettings {
  /** The authorities to trust; the system's when undefined. */
  readonly ca: string | undefined;
  readonly cert: string | undefined;
  readonly key: string | undefined;
  /** The name the server's certificate must carry; that of the URL when undefined. */
  readonly serverName: string | undefined;
  readonly rejectUnauthorized: boolean;
}

export interface ClusterConfig {
  /** The server's URL without a trailing slash, such as `https://127.0.0.1:6443`. */
  readonly server: string;
  /** The context's name, or `in-cluster`. */
  readonly context: string;
  /** The user's name in the kubeconfig. */
  readonly user: string;
  /** The context's namespace. @default "default" */
  readonly namespace: string;
  /** The TLS settings; read them after `headers()`, because a credential plugin may change them. */
  readonly tls: TlsSettings;
  /** An http or https proxy. */
  readonly proxy?: string | undefined;
  /**
   * Answers every request in place of a connection to `server`: a server in this process. It behaves like `fetch`: it
   * rejects when there is no response, and when the request's signal fires.
   */
  readonly answer?: ((request: Request) => Promise<Response>) | undefined;
  /**
   * The headers that authenticate requests. It returns the same object while they do not change, and a promise only if
   * something has to be read or run.
   */
  headers(signal?: AbortSignal): HeaderValues | Promise<HeaderValues>;
  /** Reloads certificates and authorities whose files were replaced. Called before a connection is opened. */
  renew?(): void;
  /**
   * Reads the credentials again, after the server refused them.
   *
   * @returns whether they changed, so that another attempt may succeed.
   */
  reload(): Promise<boolean>;
}
