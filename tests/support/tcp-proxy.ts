/**
 * A proxy between a client and an API server that breaks connections as networks do: below TLS, so that neither end
 * learns more than from a network.
 */
import { createConnection, createServer, type AddressInfo, type Server, type Socket } from "node:net";

/** What happens to the bytes of connections. */
export interface Fault {
  /** Whether bytes vanish in both directions without an error, as in a half-open connection. @default false */
  readonly stalled?: boolean;
  /** By how many milliseconds the server's bytes are late. @default 0 */
  readonly delay?: number;
  /** After how many more bytes of the server the connection is cut, wherever that is. @default never */
  readonly truncateAfter?: number;
}

const NONE: Fault = Object.freeze({});

/** An accepted connection and its connection to the server. */
class Link {
  readonly #client: Socket;
  readonly #server: Socket;
  #fault: Fault;
  #left: number;
  /** Delayed bytes in order: none arrives before those ahead of it. */
  #late: Promise<void> = Promise.resolve();
  /** How many delayed pieces there are. */
  #waiting = 0;

  constructor(parts: { client: Socket; server: Socket; fault: Fault; onClose: () => void }) {
    const { client, server, fault, onClose } = parts;
    this.#client = client;
    this.#server = server;
    this.#fault = fault;
    this.#left = fault.truncateAfter ?? Infinity;
    client.on("data", (bytes: Buffer) => {
      if (this.#fault.stalled !== true) this.#pass(client, server, bytes);
    });
    server.on("data", (bytes: Buffer) => this.#answer(bytes));
    for (const [end, other] of [
      [client, server],
      [server, client],
    ] as const) {
      end.setNoDelay(true);
      end.on("error", () => {}); // the close event follows
      end.on("end", () => {
        if (this.#fault.stalled !== true) void this.#late.then(() => other.end());
      });
      end.on("close", () => {
        // The other end of a half-open connection is not notified.
        if (this.#fault.stalled === true && end === server) return;
        void this.#late.then(() => other.destroy());
        onClose();
      });
    }
  }

  set fault(fault: Fault) {
    this.#fault = fault;
    this.#left = fault.truncateAfter ?? Infinity;
  }

  cut(): void {
    this.#client.destroy();
    this.#server.destroy();
  }

  #answer(bytes: Uint8Array): void {
    const { stalled, delay = 0 } = this.#fault;
    if (stalled === true) return;
    const cut = bytes.length >= this.#left;
    const sent = cut ? bytes.subarray(0, this.#left) : bytes;
    this.#left -= bytes.length;
    const send = (): void => {
      this.#pass(this.#server, this.#client, sent);
      if (cut) this.cut();
    };
    if (delay <= 0 && this.#waiting === 0) return send();
    const due = performance.now() + delay;
    this.#waiting++;
    this.#late = this.#late.then(async () => {
      const wait = due - performance.now();
      if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait));
      this.#waiting--;
      send();
    });
  }

  #pass(from: Socket, to: Socket, bytes: Uint8Array): void {
    if (to.destroyed || to.writableEnded || to.write(bytes)) return;
    from.pause();
    to.once("drain", () => from.resume());
  }
}

/** Listens on the loopback; `await using` ends it and every connection. */
export class TcpProxy implements AsyncDisposable {
  readonly #links = new Set<Link>();
  readonly #target: { readonly host: string; readonly port: number };
  #server: Server | undefined;
  #port = 0;
  #fault: Fault = NONE;
  /** How many connections have been accepted. */
  accepted = 0;

  private constructor(target: URL) {
    this.#target = { host: target.hostname, port: Number(target.port) };
  }

  /** Starts a proxy. @param target such as `https://127.0.0.1:6443`. */
  static async start(target: string): Promise<TcpProxy> {
    const proxy = new TcpProxy(new URL(target));
    await proxy.listen();
    return proxy;
  }

  /** The address that clients take for the server. */
  get url(): string {
    return `https://127.0.0.1:${this.#port}`;
  }

  /** The number of open connections, including half-open ones. */
  get connections(): number {
    return this.#links.size;
  }

  /** Cuts every connection. */
  cut(): void {
    for (const link of this.#links) link.cut();
  }

  /** Makes every open connection half-open for ever; new ones work. */
  halfOpen(): void {
    for (const link of this.#links) link.fault = { stalled: true };
  }

  /** Applies a fault to open and new connections from now on; without one everything works again. */
  inject(fault: Fault = NONE): void {
    this.#fault = fault;
    for (const link of this.#links) link.fault = fault;
  }

  /** Cuts every connection and refuses new ones until `listen`. */
  async refuse(): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    this.cut();
    if (server !== undefined) await new Promise<void>((resolve) => server.close(() => resolve()));
  }

  /** Accepts connections again, on the same port. */
  async listen(): Promise<void> {
    if (this.#server !== undefined) return;
    const server = createServer((client) => this.#accept(client));
    this.#server = server;
    await new Promise<void>((resolve, reject) => {
      server.once("error", reject);
      server.listen(this.#port, "127.0.0.1", resolve);
    });
    this.#port = (server.address() as AddressInfo).port;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.refuse();
  }

  #accept(client: Socket): void {
    this.accepted++;
    const link: Link = new Link({
      client,
      server: createConnection(this.#target),
      fault: this.#fault,
      onClose: () => void this.#links.delete(link),
    });
    this.#links.add(link);
  }
}
