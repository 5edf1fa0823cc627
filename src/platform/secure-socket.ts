/** A TLS connection that reads and writes bytes, without the machinery of a stream. */

export interface SecureSocketOptions {
  readonly host: string;
  readonly port: number;
  /** The options of `node:tls`; authority and host name are verified unless `rejectUnauthorized` is false. */
  readonly tls: {
    readonly ca: string | undefined;
    readonly cert: string | undefined;
    readonly key: string | undefined;
    /** The server name. @default the host */
    readonly serverName: string | undefined;
    readonly rejectUnauthorized: boolean;
  };
  /** The protocols that ALPN offers, in order of preference. */
  readonly protocols: readonly string[];
}

export interface SecureSocket {
  /** The protocol that the server chose; `undefined` when it knows none of the offered ones. */
  readonly protocol: string | undefined;
  /**
   * Writes bytes.
   *
   * @returns how many were accepted; when that is not all, `onDrain` is called once more can be written.
   */
  write(bytes: Uint8Array): number;
  /** Stops reading, including the end, until `resume`. */
  pause(): void;
  resume(): void;
  /** Closes the connection after the written bytes have been sent. */
  close(): void;
}

export interface SecureSocketHandlers {
  /** Called with bytes that the handler may keep. */
  onData(bytes: Uint8Array): void;
  onDrain(): void;
  /** Called once, whoever closed the connection. */
  onClose(error: Error | undefined): void;
}

/** Receives the outcome of a connection. */
export interface SecureSocketOpener {
  /** Called once, after the handshake. @returns the handlers of the connection's events. */
  readonly open: (socket: SecureSocket) => SecureSocketHandlers;
  /** Called once, instead of `open`. */
  readonly failed: (error: Error) => void;
}
