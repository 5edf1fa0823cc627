/** TLS connections by `Bun.connect`. */
import type { X509Certificate } from "node:crypto";
import type { SecureSocketHandlers, SecureSocketOpener, SecureSocketOptions } from "../secure-socket.ts";

/**
 * Connects. `open` is called once, after the handshake, and returns the handler.
 *
 * @returns a function that gives up the connection at any time.
 */
export function connectSecurely(options: SecureSocketOptions, to: SecureSocketOpener): () => void {
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
        // Go takes each certificate of a bundle as an anchor, an intermediate's or the server's own as well as a root's.
        ...(tls.ca !== undefined && { ca: tls.ca, allowPartialTrustChain: true }),
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
          // An untrusted server is reported as a failure even when verification is off; only a connection without a
          // cipher is a real one.
          const mayPass = !tls.rejectUnauthorized && hasCipher(socket);
          if (!isTrusted && !mayPass) {
            const failure = error ?? new Error("the TLS handshake failed");
            return fail(Object.assign(failure, { certificate: certificateOf(socket) }));
          }
          // Small frames must not wait for each other.
          socket.setNoDelay(true);
          const protocol = (socket as { readonly alpnProtocol?: string | false | null }).alpnProtocol;
          handlers = to.open({
            protocol: protocol || undefined,
            write: (bytes) => Math.max(socket.write(bytes), 0),
            pause: () => socket.pause(),
            resume: () => socket.resume(),
            // `end` would wait for the other side, which may be dead, and could not be aborted any more.
            close: () => {
              // While paused, the other side's end would not be read, and the socket would keep the process alive.
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
  // Invalid settings throw at once.
  Promise.resolve().then(connect).catch(fail);
  return () => {
    over = true;
    connection?.terminate();
  };
}

function hasCipher(socket: object): boolean {
  return (socket as { getCipher(): { readonly name?: string } | undefined }).getCipher()?.name !== undefined;
}

/** The certificate that the server has shown, which tells why it is refused. */
function certificateOf(socket: object): X509Certificate | undefined {
  return (socket as { getPeerX509Certificate(): X509Certificate | undefined }).getPeerX509Certificate();
}

/** Encodes each name after a byte with its length. @see https://www.rfc-editor.org/rfc/rfc7301#section-3.1 */
function wireForm(protocols: readonly string[]): string {
  return protocols.map((name) => String.fromCharCode(name.length) + name).join("");
}

function cutOff(): Error {
  return Object.assign(new Error("the connection was lost"), { code: "ECONNRESET" });
}
