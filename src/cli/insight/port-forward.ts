/** Forwards a port of this machine's loopback to a port of a pod, through the API server. */
import { createServer, type Server, type Socket } from "node:net";
import type { Channels } from "../../kube/transport/channels.ts";
import type { Transport } from "../../kube/transport/transport.ts";
import { messageOf } from "../../platform/error-message.ts";
import type { Key } from "../../resource/meta.ts";

/** Every message begins with its channel; the first one of each channel repeats the port. */
const DATA = 0;
const ERROR = 1;
const PORT_BYTES = 2;

export interface PortForward extends AsyncDisposable {
  /** The address on this machine, such as `127.0.0.1:41234`. */
  readonly address: string;
  /** Why the last connection could not be made; `undefined` while none has failed. */
  readonly failure: string | undefined;
}

/**
 * Listens on a free port; each connection becomes one WebSocket to the pod.
 *
 * @see https://kubernetes.io/docs/reference/kubernetes-api/workload-resources/pod-v1/#get-connect-portforward-requests-to-portforward-of-pod
 */
export async function forwardPort(
  transport: Pick<Transport, "channels">,
  pod: Key,
  port: number,
): Promise<PortForward> {
  const stopping = new AbortController();
  const forward = { failure: undefined as string | undefined };
  const server: Server = createServer({ allowHalfOpen: true }, (socket) => {
    void connect(socket, { transport, pod, port, signal: stopping.signal }).catch((error: unknown) => {
      forward.failure = messageOf(error);
      socket.destroy();
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, "127.0.0.1", resolve);
  });
  const address = server.address();
  return {
    address: `127.0.0.1:${typeof address === "object" && address !== null ? address.port : 0}`,
    get failure() {
      return forward.failure;
    },
    [Symbol.asyncDispose]: () => {
      stopping.abort(new Error("The port is no longer forwarded"));
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

interface Connection {
  readonly transport: Pick<Transport, "channels">;
  readonly pod: Key;
  readonly port: number;
  readonly signal: AbortSignal;
}

async function connect(socket: Socket, { transport, pod, port, signal }: Connection): Promise<void> {
  socket.on("error", () => {}); // what follows it is the event "close"
  const begun = new Set<number>();
  let failure = "";
  let channels: Channels | undefined;
  const close = (): void => channels?.close();
  socket.on("close", close);
  channels = await transport.channels({
    path: `/api/v1/namespaces/${pod.namespace ?? "default"}/pods/${pod.name}/portforward`,
    query: new URLSearchParams({ ports: String(port) }),
    signal,
    onMessage: (channel, bytes) => {
      const content = begun.has(channel) ? bytes : bytes.subarray(PORT_BYTES);
      begun.add(channel);
      if (channel === DATA && content.length > 0) socket.write(content);
      else if (channel === ERROR) failure += new TextDecoder().decode(content);
    },
  });
  if (socket.destroyed) return close();
  const send = async (): Promise<void> => {
    for await (const chunk of socket as AsyncIterable<Uint8Array>) await channels.send(DATA, chunk);
  };
  // The client may have said everything while the answer is still to come.
  send().catch(() => socket.destroy());
  try {
    await channels.closed;
  } finally {
    channels.close();
    socket.end();
  }
  if (failure !== "") throw new Error(failure);
}
