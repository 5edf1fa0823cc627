/** A TLS connection as bytes in and bytes out, without a stream's machinery around it. */

export interface SecureSocketOptions {
  readonly host: string;
  readonly port: number;
  /** In the terms of `node:tls`; authority and host name are checked unless `rejectUnauthorized` is false. */
  readonly tls: {
    readonly ca: string | undefined;
    readonly cert: string | undefined;
    readonly key: string | undefined;
    /** @default the host */
    readonly serverName: string | undefined;
    readonly rejectUnauthorized: boolean;
  };
  /** Offered by ALPN, in the order of preference. */
  readonly protocols: readonly string[];
}

export interface SecureSocket {
  /** The one of the offered protocols that the server chose; undefined when it knows none of this. */
  readonly protocol: string | undefined;
  /** @returns how many of the bytes were taken; after fewer than all `onDrain` says when there is room again. */
  write(bytes: Uint8Array): number;
  /** Nothing is read until `resume`, not even the end. */
  pause(): void;
  resume(): void;
  /** After what was written. */
  close(): void;
}

export interface SecureSocketHandlers {
  /** The bytes are the handler's to keep. */
  onData(bytes: Uint8Array): void;
  onDrain(): void;
  /** Told once, whoever closed it. */
  onClose(error: Error | undefined): void;
}

/**
 * Connects; `open` is called once, when the handshake is done, and says who listens.
 *
 * @returns what gives the connection up, at any time.
 */
export function connectSecurely(
  options: SecureSocketOptions,
  to: { readonly open: (socket: SecureSocket) => SecureSocketHandlers; readonly failed: (error: Error) => void },
): () => void {
  const { host, port, tls, protocols } = options;
  let handlers: SecureSocketHandlers | undefined;
  let over = false;
  let connection: Bun.Socket | undefined;
  const fail = (error: Error): void => {
    if (over) return;
    over = true;
    connection?.terminate();
    if (handlers === undefined) to.failed(error);
    else handlers.onClose(error);
  };
  const connect = (): Promise<unknown> =>
    Bun.connect({
      hostname: host,
      port,
      tls: {
        ...(tls.ca !== undefined && { ca: tls.ca }),
        ...(tls.cert !== undefined && { cert: tls.cert }),
        ...(tls.key !== undefined && { key: tls.key }),
        serverName: tls.serverName ?? host,
        rejectUnauthorized: tls.rejectUnauthorized,
        ALPNProtocols: wireForm(protocols),
      },
      socket: {
        binaryType: "uint8array",
        open(socket) {
          connection = socket;
          if (over) socket.terminate();
        },
        handshake(socket, isTrusted, error) {
          if (over) return;
          // A server that is not trusted counts as a failure also where nobody asked; only without a cipher it is one.
          const mayPass = !tls.rejectUnauthorized && hasCipher(socket);
          if (!isTrusted && !mayPass) return fail(error ?? new Error("the TLS handshake failed"));
          // Small frames are not to wait for each other.
          socket.setNoDelay(true);
          const chosen = (socket as { readonly alpnProtocol?: string | false | null }).alpnProtocol;
          handlers = to.open({
            protocol: chosen || undefined,
            write: (bytes) => Math.max(socket.write(bytes), 0),
            pause: () => socket.pause(),
            resume: () => socket.resume(),
            // `end` would wait for the other side, which may be dead, and could not be cut short any more.
            close: () => {
              // Of one that pauses the other side's end would go unread, and it would keep the process for ever.
              socket.resume();
              socket.shutdown(true);
            },
          });
        },
        data: (_, bytes) => handlers?.onData(bytes),
        drain: () => handlers?.onDrain(),
        error: (_, error) => fail(error),
        close: (_, error) => {
          if (over) return;
          over = true;
          if (handlers === undefined) to.failed(error ?? cutOff());
          else handlers.onClose(error);
        },
        connectError: (_, error) => fail(error),
      },
    });
  // Settings that cannot be used are thrown at once.
  Promise.resolve().then(connect).catch(fail);
  return () => {
    over = true;
    connection?.terminate();
  };
}

function hasCipher(socket: object): boolean {
  return (socket as { getCipher(): { readonly name?: string } | undefined }).getCipher()?.name !== undefined;
}

/** Each name after a byte with its length. @see https://www.rfc-editor.org/rfc/rfc7301#section-3.1 */
function wireForm(protocols: readonly string[]): string {
  return protocols.map((name) => String.fromCharCode(name.length) + name).join("");
}

function cutOff(): Error {
  return Object.assign(new Error("the connection was lost"), { code: "ECONNRESET" });
}
