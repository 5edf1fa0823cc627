import { afterAll, describe, expect, test } from "bun:test";
import { Worker } from "node:worker_threads";
import { issue } from "binnacle-apiserver";
import { FakeClock } from "../testing/fake-clock.ts";
import { loopbackAuthority, loopbackTls } from "../../tests/support/loopback-server.ts";
import { until } from "../../tests/support/until.ts";
import type { CertificateSource, ServingCertificate } from "./certificate-source.ts";
import { TlsListener } from "./tls-listener.ts";

const cleanup = new AsyncDisposableStack();
afterAll(() => cleanup.disposeAsync());

const pairs = ["one", "two"].map((name) => issue(loopbackAuthority, { subject: { name }, hosts: ["127.0.0.1"] }));

class Source implements CertificateSource {
  #current: ServingCertificate = pairs[0]!;
  readonly #listeners = new Set<() => void>();

  current(): ServingCertificate {
    return this.#current;
  }

  subscribe(listener: () => void): Disposable {
    this.#listeners.add(listener);
    return { [Symbol.dispose]: () => void this.#listeners.delete(listener) };
  }

  show(pair: ServingCertificate): void {
    this.#current = pair;
    for (const listener of this.#listeners) listener();
  }
}

/** Reuses its connection on a thread of its own, so that it can send while the server's event loop is blocked. */
const CLIENT = `
const { connect } = require("node:tls");
const { parentPort, workerData: { port, ca, sent } } = require("node:worker_threads");
const request = "POST / HTTP/1.1\\r\\nHost: hook\\r\\nContent-Length: 2\\r\\n\\r\\n{}";
const socket = connect({ port, host: "127.0.0.1", ca }, () => socket.write(request));
socket.on("data", (data) => parentPort.postMessage(String(data).split("\\r\\n")[0]));
socket.on("error", () => {});
socket.on("close", () => parentPort.postMessage("closed"));
parentPort.on("message", () => {
  socket.write(request, () => {
    Atomics.store(sent, 0, 1);
    Atomics.notify(sent, 0);
  });
});
`;

class Client {
  readonly messages: unknown[] = [];
  readonly #sent = new Int32Array(new SharedArrayBuffer(4));
  readonly #worker: Worker;

  constructor(address: string) {
    const port = Number(address.split(":").at(-1));
    const workerData = { port, ca: loopbackTls.ca, sent: this.#sent };
    this.#worker = new Worker(CLIENT, { eval: true, workerData });
    this.#worker.on("message", (message) => this.messages.push(message));
    cleanup.defer(() => this.#worker.terminate().then(() => {}));
  }

  /** Resolves when there are so many answers, or the connection is closed. */
  async answers(count: number): Promise<readonly unknown[]> {
    await until(() => this.messages.length >= count || this.messages.includes("closed"), { what: "the answers" });
    return this.messages.slice(0, count);
  }

  /** Blocks the event loop until a request is in the server's socket, where the loop has not read it. */
  sendUnread(): void {
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread is no window
    this.#worker.postMessage("send");
    expect(Atomics.wait(this.#sent, 0, 0, 20_000)).not.toBe("timed-out");
  }
}

describe("TlsListener", () => {
  const OK = "HTTP/1.1 200 OK";

  const start = (): { listener: TlsListener; source: Source; clock: FakeClock } => {
    const source = new Source();
    const clock = new FakeClock();
    const listener = new TlsListener({
      name: "webhook",
      address: "127.0.0.1:0",
      certificates: source,
      fetch: () => new Response("ok"),
      largestBody: 1_000,
      clock,
    });
    cleanup.use(listener);
    return { listener, source, clock };
  };

  test("a request that has arrived on an idle connection is answered although its server's certificate was replaced", async () => {
    const { listener, source, clock } = start();
    const client = new Client(listener.address);
    expect(await client.answers(1)).toEqual([OK]);
    source.show(pairs[1]!);
    client.sendUnread();
    // The server has had no request for long enough, as far as it knows.
    clock.advance(10_000);
    expect(await client.answers(2)).toEqual([OK, OK]);
  });

  test("stop answers a request that has arrived on an idle connection", async () => {
    const { listener } = start();
    const client = new Client(listener.address);
    expect(await client.answers(1)).toEqual([OK]);
    client.sendUnread();
    const stopped = listener.stop({ grace: 10_000 });
    expect(await client.answers(2)).toEqual([OK, OK]);
    await stopped;
  });
});
