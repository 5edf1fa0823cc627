import { afterAll, expect, test } from "bun:test";
import { once } from "node:events";
import https from "node:https";
import net, { type AddressInfo } from "node:net";
import tls, { type TLSSocket } from "node:tls";
import { loopbackServerTls, loopbackTls } from "../../tests/support/loopback-server.ts";
import { fetchOnce } from "#runtime/fetch-session";
import { connectSecurely } from "#runtime/secure-socket";
import type { SecureSocket, SecureSocketOptions } from "./secure-socket.ts";

const cleanup = new AsyncDisposableStack();
afterAll(() => cleanup.disposeAsync());

/** Starts a server. @returns the port, and the first connection on the server's side. */
async function serve(server: net.Server = tls.createServer({ ...loopbackServerTls, ALPNProtocols: ["h2"] })) {
  const { promise: accepted, resolve } = Promise.withResolvers<TLSSocket>();
  server.on("secureConnection", (socket: TLSSocket) => resolve(socket.on("error", () => {})));
  server.on("connection", (socket: net.Socket) => void socket.on("error", () => {}));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  cleanup.defer(() => void server.close());
  return { port: (server.address() as AddressInfo).port, accepted };
}

interface Told {
  readonly socket: SecureSocket;
  readonly received: string[];
  /** How often the socket could be written to again. */
  drained: number;
  readonly closed: Promise<Error | undefined>;
}

function connect(port: number, options: Partial<SecureSocketOptions> = {}): Promise<Told> {
  return new Promise((resolve, reject) => {
    connectSecurely(
      { host: "127.0.0.1", port, tls: loopbackTls, protocols: ["h2", "http/1.1"], ...options },
      {
        failed: reject,
        open: (socket) => {
          const { promise: closed, resolve: onClose } = Promise.withResolvers<Error | undefined>();
          const told: Told = { socket, received: [], drained: 0, closed };
          resolve(told);
          return {
            onData: (bytes) => void told.received.push(Buffer.from(bytes).toString()),
            onDrain: () => void told.drained++,
            onClose,
          };
        },
      },
    );
  });
}

const codeOf = (error: unknown): unknown => (error as { code?: string }).code;

test("connectSecurely says which protocol the server chose, and carries bytes both ways", async () => {
  const { port, accepted } = await serve();
  const client = await connect(port, { host: "localhost" });
  expect(client.socket.protocol).toBe("h2");
  expect(client.socket.write(Buffer.from("ping"))).toBe(4);
  const peer = await accepted;
  const [sent] = (await once(peer, "data")) as [Buffer];
  expect(String(sent)).toBe("ping");
  peer.end("pong");
  expect(await client.closed).toBeUndefined();
  expect(client.received.join("")).toBe("pong");
});

test.each([
  ["another name", { serverName: "other.example" }, "ERR_TLS_CERT_ALTNAME_INVALID"],
  ["no authority", { ca: undefined }, "UNABLE_TO_VERIFY_LEAF_SIGNATURE"],
  ["no authority that nobody asks for", { ca: undefined, rejectUnauthorized: false }, undefined],
  ["another name that nobody asks for", { serverName: "other.example", rejectUnauthorized: false }, undefined],
] as const)("connectSecurely checks the server: %s", async (_, settings, code) => {
  const { port } = await serve();
  const failure = await connect(port, { tls: { ...loopbackTls, ...settings } }).then(() => undefined, codeOf);
  expect(failure).toBe(code);
});

test("connectSecurely refuses an authority that is none", async () => {
  const { port } = await serve();
  const failure = await connect(port, { tls: { ...loopbackTls, ca: "nonsense" } }).then(() => undefined, codeOf);
  expect(failure).toMatch(/SSL/);
});

test("connectSecurely takes an authority beside one that cannot be read", async () => {
  const { port } = await serve();
  const ca = `${loopbackTls.ca}\n-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n`;
  expect((await connect(port, { tls: { ...loopbackTls, ca } })).socket.protocol).toBe("h2");
  const response = await fetchOnce(`https://127.0.0.1:${await startAnswering()}/`, {}, { ...loopbackTls, ca });
  expect(await response.text()).toBe("answer");
});

async function startAnswering(): Promise<number> {
  const { port } = await serve(
    https.createServer({ ...loopbackServerTls }, (_, response) => void response.end("answer")),
  );
  return port;
}

test("connectSecurely tells why there is no connection", async () => {
  const { port: cutting } = await serve(net.createServer((socket) => socket.once("data", () => socket.destroy())));
  const { port: plain } = await serve(
    net.createServer((socket) => socket.once("data", () => socket.end("HTTP/1.1 400\r\n\r\n"))),
  );
  const codes = [connect(cutting), connect(plain), connect(1), connect(plain, { host: "nowhere.invalid" })].map(
    (attempt) => attempt.then(() => "connected", codeOf),
  );
  expect(await Promise.all(codes)).toEqual(["ECONNRESET", "EPROTO", "ECONNREFUSED", "ENOTFOUND"]);
});

test("connectSecurely gives up a handshake that hangs, without another word", async () => {
  const listener = net.createServer();
  const { port } = await serve(listener);
  const told: string[] = [];
  const giveUp = connectSecurely(
    { host: "127.0.0.1", port, tls: loopbackTls, protocols: ["h2"] },
    { failed: () => void told.push("failed"), open: () => fail() },
  );
  const [socket] = (await once(listener, "connection")) as [net.Socket];
  socket.resume();
  giveUp();
  await once(socket, "close");
  expect(told).toEqual([]);
});

test("connectSecurely says how much the socket took, and when there is room again", async () => {
  const { port, accepted } = await serve();
  const client = await connect(port);
  const bytes = new Uint8Array(1_000_000);
  let sent = 0;
  for (;;) {
    const taken = client.socket.write(bytes);
    sent += taken;
    if (taken < bytes.length) break;
  }
  let received = 0;
  const peer = await accepted;
  for await (const chunk of peer) if ((received += (chunk as Buffer).length) >= sent) break;
  expect(received).toBe(sent);
  expect(client.drained).toBeGreaterThan(0);
});

test("connectSecurely close ends a connection also when the other side never answers", async () => {
  const { port, accepted } = await serve();
  const client = await connect(port);
  const peer = await accepted;
  peer.pause();
  client.socket.write(Buffer.from("last words"));
  client.socket.close();
  expect(await client.closed).toBeUndefined();
  const received: Buffer[] = [];
  peer.on("data", (chunk: Buffer) => void received.push(chunk)).resume();
  await once(peer, "end");
  expect(Buffer.concat(received).toString()).toBe("last words");
});

function fail(): never {
  throw new Error("nobody was to connect");
}

test("connectSecurely reads nothing of a socket that pauses, and all of it later, also the end", async () => {
  const { port, accepted } = await serve();
  const client = await connect(port);
  const peer = await accepted;
  client.socket.pause();
  for (const part of ["one ", "two ", "three"]) await new Promise((resolve) => peer.write(part, resolve));
  peer.end();
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect(client.received).toEqual([]);
  client.socket.resume();
  expect(await client.closed).toBeUndefined();
  expect(client.received.join("")).toBe("one two three");
});

test("connectSecurely closes a socket that pauses: nothing of it is left to keep the process", async () => {
  const { port, accepted } = await serve();
  const client = await connect(port);
  const peer = await accepted;
  client.socket.pause();
  await new Promise((resolve) => peer.write("unread", resolve));
  peer.resume();
  client.socket.close();
  await once(peer, "end");
  peer.end();
  await client.closed;
});
