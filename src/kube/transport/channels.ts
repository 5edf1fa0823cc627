/**
 * Several streams of bytes over one WebSocket, as `exec` and `attach` use them: each message begins with its channel.
 *
 * @see https://github.com/kubernetes/enhancements/tree/master/keps/sig-api-machinery/4006-transition-spdy-to-websockets
 */
import { messageOf } from "../../platform/error-message.ts";
import net, { type Socket } from "node:net";
import type { Clock } from "../../platform/clock.ts";
import { UnreachableError } from "../errors/api-error.ts";
import type { ClusterConfig, HeaderValues } from "../config/cluster-config.ts";
import { connectionLost, unreachable } from "../errors/connection-failure.ts";
import { connectTls } from "../http/connector.ts";
import { type WriteGate, WritesRefused } from "./write-gate.ts";
import { upgrade } from "./upgrade.ts";
import { encodeFrame, WebSocketFrameReader, OPCODE } from "./websocket-frames.ts";

export interface ChannelsRequest {
  /** The path without the query. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers?: HeaderValues | undefined;
  /** Checked just before the request is sent. @default it is always sent */
  readonly gate?: WriteGate | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Called synchronously for each message, with its channel. */
  onMessage(channel: number, bytes: Uint8Array): void;
}

export interface Channels {
  send(channel: number, bytes: Uint8Array): Promise<void>;
  /** Announces the end of the channel. @throws Error when the server is too old to understand that. */
  end(channel: number): Promise<void>;
  close(): void;
  /** Resolves when the server has closed in order. @throws UnreachableError when the connection is lost. */
  readonly closed: Promise<void>;
}

/** Only the fifth version can end a channel without ending all of them. */
const WITH_END = "v5.channel.k8s.io";
const PROTOCOLS = [WITH_END, "v4.channel.k8s.io"];
const END = 255;
/** Milliseconds between pings; after three without any sign of life the connection is given up. */
const PING_MS = 5_000;
const PATIENCE = 3;

export interface OpenOptions {
  readonly config: ClusterConfig;
  readonly clock: Clock;
  /** All headers of the request. */
  readonly headers: HeaderValues;
  readonly signal: AbortSignal;
}

/** @throws ApiError when the server refuses, UnreachableError when it is not reached, the signal's reason. */
export async function openChannels(request: ChannelsRequest, options: OpenOptions): Promise<Channels> {
  const { config, headers, signal } = options;
  if (config.answer !== undefined) throw new Error("Cannot open a stream both ways: this server is no connection away");
  const url = new URL(config.server);
  let socket: Socket;
  try {
    config.renew?.();
    socket = await connect(config, url);
  } catch (error) {
    throw unreachable(config.server, error);
  }
  const onAbort = (): void => void socket.destroy();
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    signal.throwIfAborted();
    const refused = request.gate?.refused;
    if (refused !== undefined) throw new WritesRefused(refused);
    const path = `${url.pathname === "/" ? "" : url.pathname}${request.path}?${request.query}`;
    const { protocol, head } = await upgrade(socket, { server: config.server, path, headers, protocols: PROTOCOLS });
    return new SocketChannels(socket, {
      ...options,
      protocol,
      head,
      onMessage: (channel, bytes) => request.onMessage(channel, bytes),
    });
  } catch (error) {
    socket.destroy();
    throw signal.aborted ? signal.reason : error;
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}

async function connect({ tls, proxy }: ClusterConfig, server: URL): Promise<Socket> {
  if (server.protocol === "https:") return connectTls({ server, tls, proxy, protocols: ["http/1.1"] });
  const socket = net.connect(Number(server.port) || 80, server.hostname.replace(/^\[|\]$/g, ""));
  await new Promise<void>((resolve, reject) => socket.once("connect", resolve).once("error", reject));
  socket.on("error", () => {});
  return socket;
}

interface Connection extends OpenOptions {
  readonly protocol: string;
  readonly head: Uint8Array;
  readonly onMessage: ChannelsRequest["onMessage"];
}

class SocketChannels implements Channels {
  readonly closed: Promise<void>;
  readonly #socket: Socket;
  readonly #protocol: string;
  readonly #clock: Clock;
  readonly #done: PromiseWithResolvers<void> = Promise.withResolvers();
  #timer: Disposable | undefined;
  #silent = 0;
  #isOver = false;

  constructor(socket: Socket, connection: Connection) {
    const { protocol, head, onMessage, clock, config, signal } = connection;
    this.#socket = socket;
    this.#protocol = protocol;
    this.#clock = clock;
    this.closed = this.#done.promise;
    this.closed.catch(() => {}); // whoever waits for it is told
    const reader = new WebSocketFrameReader((opcode, payload) => this.#message(opcode, payload, onMessage));
    const read = (chunk: Uint8Array): void => {
      this.#silent = 0;
      try {
        reader.push(chunk);
      } catch (error) {
        const message = messageOf(error);
        this.#end(new UnreachableError(config.server, { code: "EBADMSG", message, cause: error }));
      }
    };
    const lost = (): void => this.#end(connectionLost(config.server));
    const onAbort = (): void => this.#end(signal.reason);
    signal.addEventListener("abort", onAbort, { once: true });
    void this.closed.catch(() => {}).then(() => signal.removeEventListener("abort", onAbort));
    socket.on("data", read).on("end", lost).on("close", lost);
    this.#ping(config.server);
    if (head.length > 0) read(head);
    socket.resume();
  }

  send(channel: number, bytes: Uint8Array): Promise<void> {
    const payload = new Uint8Array(bytes.length + 1);
    payload[0] = channel;
    payload.set(bytes, 1);
    return this.#write(OPCODE.binary, payload);
  }

  end(channel: number): Promise<void> {
    if (this.#protocol !== WITH_END) {
      return Promise.reject(
        new Error(
          `Cannot end the input of a command: the server speaks ${this.#protocol}; Kubernetes 1.30 and later can`,
        ),
      );
    }
    return this.#write(OPCODE.binary, Uint8Array.of(END, channel));
  }

  close(): void {
    if (this.#isOver) return;
    void this.#write(OPCODE.close, Uint8Array.of(0x03, 0xe8)).catch(() => {});
    this.#end();
  }

  #message(opcode: number, payload: Uint8Array, onMessage: ChannelsRequest["onMessage"]): void {
    if (opcode === OPCODE.ping) this.#pong(payload);
    else if (opcode === OPCODE.close) this.close();
    else if (opcode === OPCODE.binary && payload.length > 1) onMessage(payload[0]!, payload.subarray(1));
  }

  /** Answers a ping. While the server does not read, answers would pile up, so only the last ping is answered. */
  #pong(payload: Uint8Array): void {
    if (!this.#isOver && !this.#socket.writableNeedDrain) this.#socket.write(encodeFrame(OPCODE.pong, payload));
  }

  /** Waits while the socket takes no more. */
  async #write(opcode: number, payload: Uint8Array): Promise<void> {
    if (this.#isOver) throw new Error("the stream has ended");
    if (this.#socket.write(encodeFrame(opcode, payload))) return;
    const drained = Promise.withResolvers<void>();
    this.#socket.once("drain", drained.resolve);
    await Promise.race([drained.promise, this.closed]);
  }

  #ping(server: string): void {
    this.#timer = this.#clock.setTimeout(() => {
      if (++this.#silent > PATIENCE) {
        const message = `nothing heard for ${(PING_MS * PATIENCE) / 1_000} s`;
        return this.#end(new UnreachableError(server, { code: "ETIMEDOUT", message }));
      }
      void this.#write(OPCODE.ping, new Uint8Array()).catch(() => {});
      this.#ping(server);
    }, PING_MS);
  }

  #end(error?: unknown): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#timer?.[Symbol.dispose]();
    const socket = this.#socket;
    if (error === undefined) socket.end(() => socket.destroy());
    else socket.destroy();
    if (error === undefined) this.#done.resolve();
    else this.#done.reject(error);
  }
}
