/** A server on loopback that says what the test wants said, as much of it as the client takes, and nothing after that. */
import type { AddressInfo } from "node:net";
import { createServer, type TLSSocket } from "node:tls";
import { ACK, END_HEADERS, frame, FrameCutter, type Frame, OK, settings } from "../http2-frames.ts";
import { loopbackServerTls } from "../loopback-server.ts";

/** The client's end is gone. */
export class PeerGone extends Error {}

/** One connection of the client. */
export class Peer {
  readonly socket: TLSSocket;
  readonly frames: Frame[] = [];
  /** Bytes that were written so far. */
  sent = 0;
  #gone = false;
  #wake: (() => void) | undefined;

  constructor(socket: TLSSocket) {
    this.socket = socket;
    const wake = (): void => this.#wake?.();
    socket.on("error", () => {});
    socket.on("drain", wake);
    socket.on("close", () => {
      this.#gone = true;
      wake();
    });
  }

  get isGone(): boolean {
    return this.#gone;
  }

  /** Resolves when there is room for more. @throws PeerGone */
  async write(...pieces: readonly (Uint8Array | string)[]): Promise<void> {
    for (const piece of pieces) {
      if (this.#gone) throw new PeerGone();
      this.sent += piece.length;
      if (this.socket.write(piece)) continue;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    // Others have a turn, the end of the connection among them.
    await new Promise((resolve) => setImmediate(resolve));
    if (this.#gone) throw new PeerGone();
  }

  /** Writes the piece again and again, until so many bytes have gone out or the client has. */
  async flood(piece: Uint8Array, most: number): Promise<void> {
    for (const end = this.sent + most; this.sent < end;) await this.write(piece);
  }
}

/** What the server does when it is asked; a stream of HTTP/2 has a number, a request of HTTP/1.1 its head. */
export type Attack = (peer: Peer, request: { readonly stream: number; readonly head: string }) => Promise<void>;

export class HostileServer implements AsyncDisposable {
  readonly url: string;
  readonly peers: readonly Peer[];
  readonly #close: () => void;

  constructor(parts: { url: string; peers: readonly Peer[]; close: () => void }) {
    this.url = parts.url;
    this.peers = parts.peers;
    this.#close = parts.close;
  }

  get sent(): number {
    return this.peers.reduce((sum, peer) => sum + peer.sent, 0);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#close();
    for (const { socket } of this.peers) socket.destroy();
  }
}

export async function startHostile(protocol: "h2" | "http/1.1", attack: Attack): Promise<HostileServer> {
  const peers: Peer[] = [];
  const server = createServer({ ...loopbackServerTls, ALPNProtocols: [protocol] }, (socket) => {
    const peer = new Peer(socket);
    peers.push(peer);
    const run = (stream: number, head: string): void => {
      attack(peer, { stream, head }).catch((error: unknown) => {
        if (!(error instanceof PeerGone)) throw error;
      });
    };
    if (protocol === "h2") listenHttp2(peer, run);
    else listenHttp1(peer, run);
  });
  server.on("tlsClientError", () => {});
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return new HostileServer({ url: `https://127.0.0.1:${port}`, peers, close: () => server.close() });
}

function listenHttp2(peer: Peer, run: (stream: number, head: string) => void): void {
  const cutter = new FrameCutter();
  peer.socket.write(settings({ 3: 100 }));
  peer.socket.on("data", (bytes: Uint8Array) => {
    for (const its of cutter.take(bytes)) {
      peer.frames.push(its);
      if (its.type === "settings" && its.flags !== ACK) peer.socket.write(frame("settings", [], { flags: ACK }));
      if (its.type === "headers") run(its.stream, "");
    }
  });
}

function listenHttp1(peer: Peer, run: (stream: number, head: string) => void): void {
  let text = "";
  peer.socket.on("data", (bytes: Uint8Array) => {
    text += Buffer.from(bytes).toString("latin1");
    for (let end = text.indexOf("\r\n\r\n"); end >= 0; end = text.indexOf("\r\n\r\n")) {
      const head = text.slice(0, end);
      text = text.slice(end + 4);
      run(0, head);
    }
  });
}

/** `:status: 200` over HTTP/2. */
export function ok(stream: number): Buffer {
  return frame("headers", OK, { stream, flags: END_HEADERS });
}

/** The head of a chunked answer over HTTP/1.1. */
export function okHead(headers: Readonly<Record<string, string>> = {}): string {
  const lines = Object.entries({ "content-type": "application/json", ...headers }).map(
    ([name, value]) => `${name}: ${value}`,
  );
  return ["HTTP/1.1 200 OK", "transfer-encoding: chunked", ...lines, "", ""].join("\r\n");
}

/** A chunk of HTTP/1.1. */
export function chunk(bytes: Uint8Array): Buffer {
  return Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from("\r\n")]);
}
