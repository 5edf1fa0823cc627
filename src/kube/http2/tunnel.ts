/** A TLS connection through a proxy, with the interface of a direct one. */
import type { TLSSocket } from "node:tls";
import type { ConnectOptions } from "../http/connector.ts";
import type { Connecting } from "./h2-session.ts";

/**
 * Connects. The code for proxies is loaded on first use.
 *
 * @returns a function that gives the connection up, at any time.
 */
export function connectTunnelled(options: ConnectOptions, to: Connecting): () => void {
  let over = false;
  let socket: TLSSocket | undefined;
  const connect = async (): Promise<void> => {
    const { connectTls } = await import("../http/connector.ts");
    socket = await connectTls(options);
    if (over) return void socket.destroy();
    carry(socket, to);
  };
  connect().catch((error: unknown) => {
    if (!over) to.failed(error as Error);
  });
  return () => {
    over = true;
    socket?.destroy();
  };
}

function carry(socket: TLSSocket, to: Connecting): void {
  let failure: Error | undefined;
  const handlers = to.open({
    protocol: socket.alpnProtocol || undefined,
    write: (bytes) => {
      // The socket would buffer whatever it cannot send.
      if (socket.writableNeedDrain) return 0;
      socket.write(bytes.slice()); // the caller reuses the buffer
      return bytes.length;
    },
    pause: () => void socket.pause(),
    resume: () => void socket.resume(),
    close: () => {
      socket.resume();
      socket.destroySoon();
    },
  });
  socket.on("data", (bytes: Uint8Array) => handlers.onData(bytes));
  socket.on("drain", () => handlers.onDrain());
  socket.on("error", (error) => {
    failure = error;
  });
  socket.on("close", () => handlers.onClose(failure));
}
