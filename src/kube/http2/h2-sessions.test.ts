import { afterAll, expect, test } from "bun:test";
import net, { type AddressInfo } from "node:net";
import tls, { type TLSSocket } from "node:tls";
import {
  END_HEADERS,
  END_STREAM,
  frame,
  type Frame,
  FrameCutter,
  OK,
  settings,
} from "../../../tests/support/http2-frames.ts";
import { loopbackServerTls, loopbackTls } from "../../../tests/support/loopback-server.ts";
import { FakeClock } from "../../testing/fake-clock.ts";
import type { TlsSettings } from "../config/cluster-config.ts";
import type { HttpRequest, OpenRequest } from "../http/http-request.ts";
import { H2Sessions, type H2SessionsOptions } from "./h2-sessions.ts";
import { until } from "../../../tests/support/until.ts";

const cleanup = new AsyncDisposableStack();
afterAll(() => cleanup.disposeAsync());

/** One connection as the server sees it. */
class Peer {
  readonly socket: net.Socket;
  readonly frames: Frame[] = [];

  constructor(socket: net.Socket) {
    this.socket = socket;
  }

  /** The streams whose headers have come. */
  get streams(): number[] {
    return this.frames.filter(({ type }) => type === "headers").map(({ stream }) => stream);
  }

  answer(stream: number): void {
    this.socket.write(Buffer.concat([frame("headers", OK, { stream, flags: END_HEADERS | END_STREAM })]));
  }
}

interface Script {
  readonly protocols?: string[];
  /** On each connection, when its handshake is done. */
  readonly onConnection?: (peer: Peer) => void;
  readonly onFrame?: (frame: Frame, peer: Peer) => void;
}

async function serve({ protocols = ["h2"], onConnection, onFrame }: Script = {}) {
  const peers: Peer[] = [];
  const server = tls.createServer({ ...loopbackServerTls, ALPNProtocols: protocols }, (socket: TLSSocket) => {
    const peer = new Peer(socket);
    const cutter = new FrameCutter();
    peers.push(peer);
    socket.on("error", () => {});
    socket.on("data", (bytes) => {
      for (const its of cutter.take(bytes as Buffer)) {
        peer.frames.push(its);
        onFrame?.(its, peer);
      }
    });
    onConnection?.(peer);
  });
  const port = await listen(server);
  cleanup.defer(() => {
    for (const { socket } of peers) socket.destroy();
    server.close();
  });
  return { port, peers };
}

async function listen(server: net.Server): Promise<number> {
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  return (server.address() as AddressInfo).port;
}

function client(
  port: number,
  options: Partial<H2SessionsOptions> & { path?: string; ownTls?: () => TlsSettings } = {},
) {
  const { path = "", ownTls = () => loopbackTls, ...more } = options;
  const clock = new FakeClock();
  const told: string[] = [];
  const sessions = new H2Sessions({
    config: {
      server: `https://127.0.0.1:${port}${path}`,
      context: "c",
      user: "u",
      namespace: "default",
      get tls() {
        return ownTls();
      },
      headers: () => ({}),
      reload: async () => false,
    },
    clock,
    streamsPerSession: 10,
    idleMs: 10_000,
    elsewhere: ({ path: to }, handlers) => {
      told.push(`${to} elsewhere`);
      setImmediate(() => handlers.onEnd());
      return { cancel() {}, pause() {}, resume() {} };
    },
    ...more,
  });
  cleanup.defer(() => sessions.close());
  const open = (name: string, request: Partial<HttpRequest> = {}): OpenRequest =>
    sessions.open(
      { method: "GET", path: `/${name}`, headers: {}, ...request },
      {
        onResponse: (status) => void told.push(`${name} ${status}`),
        onChunk() {},
        onEnd: () => void told.push(`${name} ended`),
        onError: ({ code }) => void told.push(`${name} ${code}`),
      },
    );
  return { sessions, clock, told, open };
}

const ends = (told: readonly string[]): number => told.filter((line) => line.endsWith(" ended")).length;

test("H2Sessions sends a burst over few sessions, the rest in order when there is room, and what waits can be cancelled", async () => {
  const { port, peers } = await serve();
  const { sessions, told, open } = client(port, { mostSessions: 2 });
  const opened = Array.from({ length: 50 }, (_, i) => open(String(i)));
  opened[25]?.cancel();
  opened[49]?.cancel();
  await until(() => peers.reduce((sum, { streams }) => sum + streams.length, 0) === 20);
  expect([peers.length, sessions.size, sessions.streams]).toEqual([2, 2, 48]);
  const paths: string[] = [];
  for (let done = 0; done < 48;) {
    for (const peer of peers) {
      for (const { stream, payload } of peer.frames.splice(0).filter(({ type }) => type === "headers")) {
        paths.push(/\/\d+/.exec(payload.toString("latin1"))?.[0] ?? "");
        peer.answer(stream);
        done++;
      }
    }
    await Bun.sleep(1);
  }
  await until(() => ends(told) === 48);
  expect(new Set(paths).size).toBe(48);
  expect(told.indexOf("20 ended")).toBeLessThan(told.indexOf("45 ended"));
  expect(told.filter((line) => /^(25|49) /.test(line))).toEqual([]);
  expect([sessions.size, sessions.streams]).toEqual([2, 0]);
});

test("H2Sessions heeds the server's limit, also one of none, and goes on when it is raised", async () => {
  const { port, peers } = await serve({ onConnection: ({ socket }) => socket.write(settings({ 3: 1 })) });
  const { sessions, told, open } = client(port, { mostSessions: 1 });
  open("first");
  await until(() => peers[0]?.streams.length === 1);
  // What the client sends after the server's settings shows that it has read them.
  await until(() => peers[0]!.frames.some(({ type, flags }) => type === "settings" && flags === 1));
  open("second");
  open("third");
  peers[0]!.socket.write(settings({ 3: 0 }));
  peers[0]!.answer(1);
  await until(() => ends(told) === 1);
  expect([sessions.streams, peers.length, peers[0]!.streams]).toEqual([2, 1, [1]]);
  peers[0]!.socket.write(settings({ 3: 2 }));
  await until(() => peers[0]!.streams.length === 3);
});

test("H2Sessions what waits gets a new session when the server says goodbye, or cuts the connection", async () => {
  const { port, peers } = await serve();
  const { sessions, told, open } = client(port, { mostSessions: 1, streamsPerSession: 2 });
  for (const name of ["a", "b", "c", "d", "e"]) open(name);
  await until(() => peers[0]?.streams.length === 2);
  peers[0]!.socket.write(frame("goaway", [1, 0]));
  await until(() => peers[1]?.streams.length === 2);
  expect(told).toEqual(["b HTTP2RefusedStream"]);
  peers[1]!.socket.destroy();
  await until(() => peers[2]?.streams.length === 1);
  expect(told.toSorted()).toEqual(["b HTTP2RefusedStream", "c ECONNRESET", "d ECONNRESET"]);
  peers[0]!.answer(1);
  peers[2]!.answer(1);
  await until(() => ends(told) === 2);
  expect(sessions.size).toBe(1);
});

test("H2Sessions fails all who wait when there is no connection to be had, with one attempt", async () => {
  let attempts = 0;
  const listener = net.createServer((socket) => {
    attempts++;
    socket.destroy();
  });
  const port = await listen(listener);
  const { sessions, told, open } = client(port, { mostSessions: 2 });
  for (let i = 0; i < 100; i++) open("x");
  await until(() => told.length === 100);
  listener.close();
  expect(new Set(told)).toEqual(new Set(["x ECONNRESET"]));
  expect([attempts, sessions.size, sessions.streams]).toEqual([2, 0, 0]);
});

test("H2Sessions gives up a handshake that hangs after 10 s, and leaves no socket behind", async () => {
  const sockets = new Set<net.Socket>();
  const listener = net.createServer((socket) => {
    sockets.add(socket);
    socket
      .on("error", () => {})
      .on("data", () => {})
      .on("close", () => sockets.delete(socket));
  });
  const port = await listen(listener);
  const { sessions, clock, told, open } = client(port);
  open("a");
  await until(() => sockets.size === 1);
  await clock.advanceInTurns(9_999);
  expect(told).toEqual([]);
  await clock.advanceInTurns(1);
  expect(told).toEqual(["a ETIMEDOUT"]);
  await until(() => sockets.size === 0);
  expect([sessions.size, clock.timers]).toEqual([0, 0]);
  listener.close();
});

test("H2Sessions gives up a connection before it is made: cancelled, closed or left behind", async () => {
  const { port, peers } = await serve();
  const { sessions, told, open, clock } = client(port);
  open("a").cancel();
  sessions.renew();
  expect([sessions.size, clock.timers]).toEqual([0, 0]);
  open("b");
  sessions.renew();
  open("c");
  await until(() => peers.filter(({ streams }) => streams.length === 1).length === 2);
  for (const peer of peers) if (peer.streams.length > 0) peer.answer(1);
  await until(() => ends(told) === 2);
  expect(sessions.size).toBe(1);
  open("d");
  sessions.close();
  expect(told.at(-1)).toBe("d ECONNABORTED");
  expect([sessions.size, sessions.streams]).toEqual([0, 0]);
});

test("H2Sessions finds a peer that reads nothing by its silence, and lets go of the socket", async () => {
  const { port, peers } = await serve({ onConnection: ({ socket }) => void socket.pause() });
  const { clock, told, open } = client(port);
  const body = "x".repeat(60_000);
  for (let i = 0; i < 10; i++) open("a", { method: "POST", body, headers: { authorization: body } });
  await until(() => peers.length === 1 && clock.timers === 1);
  await clock.advanceInTurns(7_999);
  expect(told).toEqual([]);
  await clock.advanceInTurns(1);
  expect(new Set(told)).toEqual(new Set(["a ENETRESET"]));
  let gone = false;
  peers[0]!.socket.on("close", () => void (gone = true)).resume();
  await until(() => gone);
  expect(clock.timers).toBe(0);
});

test("H2Sessions an idle session ends in its time, which each request begins anew; a dead one is found 8 s after a request", async () => {
  const { port, peers } = await serve({
    onFrame: ({ type, stream }, peer) => void (type === "headers" && peer.answer(stream)),
  });
  const { sessions, clock, told, open } = client(port);
  for (let round = 1; round <= 4; round++) {
    open("a");
    await until(() => ends(told) === round);
    await clock.advanceInTurns(8_000);
  }
  expect([peers.length, sessions.size]).toEqual([1, 1]);
  peers[0]!.socket.removeAllListeners("data").pause();
  open("b");
  await clock.advanceInTurns(7_999);
  expect(told).not.toContain("b ENETRESET");
  await clock.advanceInTurns(1);
  expect(told.at(-1)).toBe("b ENETRESET");
  open("c");
  await until(() => told.at(-1) === "c ended");
  await clock.advanceInTurns(10_000);
  expect([peers.length, sessions.size, clock.timers]).toEqual([2, 0, 0]);
});

test("H2Sessions hands everything on, what waits too, when the server does not speak HTTP/2", async () => {
  const { port } = await serve({ protocols: ["http/1.1"] });
  const { sessions, told, open } = client(port, { mostSessions: 1, streamsPerSession: 2 });
  const opened = ["a", "b", "c", "d"].map((name) => open(name));
  opened[1]?.cancel();
  opened[3]?.cancel();
  await until(() => ends(told) === 2);
  expect(told).toEqual(["/a elsewhere", "/c elsewhere", "a ended", "c ended"]);
  expect([sessions.size, sessions.streams]).toEqual([0, 0]);
});

test("H2Sessions takes a new session for new credentials, and puts the server's path before each", async () => {
  const { port, peers } = await serve({
    onFrame: ({ type, stream }, peer) => void (type === "headers" && peer.answer(stream)),
  });
  let own = loopbackTls;
  const { told, open } = client(port, { path: "/k8s/clusters/c-1", ownTls: () => own });
  open("a");
  await until(() => ends(told) === 1);
  own = { ...loopbackTls };
  open("b");
  await until(() => ends(told) === 2);
  expect(peers.map(({ frames }) => frames.find(({ type }) => type === "headers")?.payload.toString("latin1"))).toEqual([
    expect.stringContaining("/k8s/clusters/c-1/a"),
    expect.stringContaining("/k8s/clusters/c-1/b"),
  ]);
});

test("H2Sessions refuses what cannot be sent at once, and nothing stays of it", async () => {
  const { port, peers } = await serve();
  const { sessions, open } = client(port);
  expect(() => open("a", { headers: { a: "b\nc" } })).toThrow("The header 'a' must not hold a line break");
  expect([sessions.size, sessions.streams, peers.length]).toEqual([0, 0, 0]);
});
