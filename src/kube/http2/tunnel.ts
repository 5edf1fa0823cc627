/** A TLS connection through a proxy, in the form of one without. */
import type { TLSSocket } from "node:tls";
import type { ConnectOptions } from "../http/connector.ts";
import type { Connecting } from "./h2-session.ts";

/** Connects; the proxy's part is loaded when somebody has one. @returns what gives the connection up, at any time. */
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
      // It would keep whatever it cannot send.
      if (socket.writableNeedDrain) return 0;
      socket.write(bytes.slice()); // the bytes are about to be used again
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
