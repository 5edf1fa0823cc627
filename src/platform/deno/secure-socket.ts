/** TLS connections by `node:tls`. */
import { connect, type TLSSocket } from "node:tls";
import type { SecureSocketHandlers, SecureSocketOpener, SecureSocketOptions } from "../secure-socket.ts";
import { tlsOptions } from "../tls-options.ts";
import { inCommonTerms } from "./tls-errors.ts";

/** Milliseconds in which the other side may end a connection that this one has closed. */
const LINGER = 1_000;

/**
 * Connects. `open` is called once, after the handshake, and returns the handler.
 *
 * @returns a function that gives up the connection at any time.
 */
export function connectSecurely(options: SecureSocketOptions, to: SecureSocketOpener): () => void {
  const { host, port, tls, protocols } = options;
  let handlers: SecureSocketHandlers | undefined;
  let over = false;
  let socket: TLSSocket | undefined;
  const end = (error: Error | undefined): void => {
    if (over) return;
    over = true;
    socket?.destroy();
    if (handlers !== undefined) handlers.onClose(error);
    else to.failed(error ?? cutOff());
  };
  const begin = (): void => {
    if (over) return;
    socket = connect({
      host,
      port,
      ...tlsOptions(host, tls),
      ALPNProtocols: [...protocols],
    });
    // Small frames must not wait for each other.
    socket.setNoDelay(true);
    socket.once("secureConnect", () => {
      if (!over) handlers = to.open(opened(socket!));
    });
    socket.on("data", (bytes: Buffer) => {
      if (!over) handlers?.onData(bytes);
    });
    socket.on("error", (error: Error) => end(inCommonTerms(error)));
    socket.once("close", () => end(undefined));
  };
  /** Whether bytes were refused, so that the caller waits for room. */
  let isAwaited = false;
  const opened = (it: TLSSocket): Parameters<SecureSocketOpener["open"]>[0] => {
    it.on("drain", () => {
      if (over || !isAwaited) return;
      isAwaited = false;
      handlers?.onDrain();
    });
    return {
      protocol: it.alpnProtocol || undefined,
      write: (bytes) => {
        if (over || it.destroyed) return 0;
        if (it.writableNeedDrain) {
          isAwaited = true;
          return 0;
        }
        // The bytes are copied: the caller may reuse its buffer, and the stream keeps its argument.
        it.write(Buffer.from(bytes));
        return bytes.length;
      },
      pause: () => void it.pause(),
      resume: () => void it.resume(),
      close: () => {
        if (over) return;
        over = true;
        // While paused, the other side's end would not be read.
        it.resume();
        it.end(() => handlers?.onClose(undefined));
        it.once("end", () => it.destroy());
        // The other side may be dead, and further bytes from it are not read: the socket must not keep the process
        // alive.
        it.setTimeout(LINGER, () => it.destroy());
        it.unref();
      },
    };
  };
  // Invalid settings throw at once.
  Promise.resolve()
    .then(begin)
    .catch((error: unknown) => end(error instanceof Error ? error : new Error(String(error))));
  return () => {
    over = true;
    socket?.destroy();
  };
}

function cutOff(): Error {
  return Object.assign(new Error("the connection was lost"), { code: "ECONNRESET" });
}
