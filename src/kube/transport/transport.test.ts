import { afterAll, describe, expect, test } from "bun:test";
import type { ServerHttp2Stream } from "node:http2";
import net from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import {
  loopbackTls,
  sendJson,
  sendStatus,
  startLoopback,
  type Handler,
  type LoopbackOptions,
  type LoopbackServer,
} from "../../../tests/support/loopback-server.ts";
import { FakeClock } from "../../testing/fake-clock.ts";
import { isNotFound, isTooManyRequests, isUnauthorized, isUnreachable } from "../errors/api-error.ts";
import { createTransport, type Transport, type TransportOptions } from "./transport.ts";
import { until } from "../../../tests/support/until.ts";

const cleanup = new AsyncDisposableStack();
afterAll(() => cleanup.disposeAsync());

async function start(
  handler: Handler,
  options: LoopbackOptions & { transport?: TransportOptions } = {},
): Promise<{ server: LoopbackServer; transport: Transport }> {
  const server = cleanup.use(await startLoopback(handler, options));
  // These tests are about HTTP/2 too, whatever the environment switches off.
  const switches = { http2: true, readPacing: true, ...options.transport?.switches };
  const transport = createTransport(server.config, { ...options.transport, switches });
  cleanup.defer(() => transport.close());
  return { server, transport };
}

const get = { method: "GET", path: "/api/v1/pods" } as const;

describe.each([
  ["h2", "2.0", "h2"],
  ["http/1.1", "1.1", "http/1.1"],
  ["plain", "1.1", "http/1.1"],
] as const)("transport over %s", (protocol, version, named) => {
  test("sends a request, the Lease and a stream, each with body and headers", async () => {
    const { server, transport } = await start(
      (request, reply) => {
        if (request.path !== "/stream") return sendJson(reply, { got: JSON.parse(request.body) });
        reply.writeHead(200);
        reply.write("one ");
        setTimeout(() => reply.end("two"), 5);
      },
      { protocol, headers: () => ({ authorization: "Bearer t" }), transport: { userAgent: "test/1" } },
    );
    const put = { method: "PUT", path: "/x", query: new URLSearchParams({ a: "ä b" }), body: { v: "ü" } } as const;
    expect(await transport.request<unknown>(put)).toEqual({ got: { v: "ü" } });
    expect(await transport.request<unknown>({ ...put, body: '{"v":1}', traffic: "lease" })).toEqual({ got: { v: 1 } });
    const chunks: string[] = [];
    let opened = 0;
    const onChunk = (chunk: Uint8Array) => void chunks.push(Buffer.from(chunk).toString());
    await transport.stream({ method: "GET", path: "/stream", onHeaders: () => void opened++, onChunk });
    expect(chunks.join("")).toBe("one two");
    expect(opened).toBe(1);
    for (const request of server.requests) {
      expect(request.httpVersion).toBe(version);
      expect(request.headers).toMatchObject({
        authorization: "Bearer t",
        "user-agent": "test/1",
        accept: "application/json",
      });
    }
    expect(server.requests[0]?.headers["content-type"]).toBe("application/json");
    expect(server.lines.slice(0, 2)).toEqual(["PUT /x?a=%C3%A4+b", "PUT /x?a=%C3%A4+b"]);
    expect(transport.stats).toMatchObject({ protocol: named, streams: 0, inFlight: 0 });
  });

  test("a stream that is cut fails with UnreachableError, one that was refused with ApiError", async () => {
    const { server, transport } = await start(
      (request, reply) => {
        if (request.path === "/refused") return sendStatus(reply, 410, { reason: "Expired", message: "too old" });
        if (request.path !== "/cut") return sendJson(reply, {});
        reply.writeHead(200);
        reply.write("half");
      },
      { protocol },
    );
    const cut = transport.stream({ method: "GET", path: "/cut", onChunk: () => server.cut() });
    expect(await cut.catch(isUnreachable)).toBe(true);
    const refused = transport.stream({ method: "GET", path: "/refused", onChunk() {} });
    expect(refused).rejects.toMatchObject({ name: "ApiError", code: 410, reason: "Expired", verb: "get" });
    await refused.catch(() => {});
    await transport.reachability.wait(AbortSignal.timeout(2_000));
    expect(transport.reachability.reachable).toBe(true);
  });

  test("an abort ends a request and a stream with the signal's reason", async () => {
    const { server, transport } = await start((_, reply) => void reply.writeHead(200).write(" "), { protocol });
    const controller = new AbortController();
    const { signal } = controller;
    const ends = [
      transport.request({ ...get, signal }),
      transport.stream({ ...get, signal, onChunk() {} }),
      transport.request({ ...get, signal, traffic: "lease" }),
    ].map((promise) => promise.catch((error: unknown) => error));
    await until(() => server.requests.length === 3);
    const reason = new Error("enough");
    controller.abort(reason);
    for (const end of ends) expect(await end).toBe(reason);
    expect(transport.stats).toMatchObject({ streams: 0, inFlight: 0 });
    expect(transport.reachability.reachable).toBe(true);
  });
});

test("transport shows the client certificate", async () => {
  const { server, transport } = await start((_, reply) => sendJson(reply, {}));
  await transport.request(get);
  await transport.request({ ...get, traffic: "lease" });
  expect(server.requests.map(({ user }) => user)).toEqual(["jane", "jane"]);
});

test("REST-01 REST-05 transport waits as long as Retry-After says, not less", async () => {
  const clock = new FakeClock();
  const { server, transport } = await start(
    (_, reply) =>
      server.requests.length === 1
        ? sendStatus(reply, 429, { headers: { "retry-after": "2" } })
        : sendJson(reply, { ok: 1 }),
    { transport: { clock } },
  );
  const answer = transport.request<unknown>({ method: "POST", path: "/x", body: {} });
  // The connection's timer and that of the deadlines are there, and the retry's comes.
  await until(() => server.requests.length === 1 && clock.timers === 3 && transport.stats.inFlight === 0);
  await clock.advanceInTurns(1_999);
  expect(server.requests).toHaveLength(1);
  await clock.advanceInTurns(1);
  expect(await answer).toEqual({ ok: 1 });
  expect([...transport.stats.answers]).toEqual([
    ["POST 429", 1],
    ["POST 200", 1],
  ]);
});

test("transport bounds a call by its timeout, whatever the number of its attempts", async () => {
  const clock = new FakeClock();
  const busy: Handler = (_, reply) => sendStatus(reply, 429, { headers: { "retry-after": "1" } });
  const { server, transport } = await start(busy, { transport: { clock } });
  const failure = transport.request({ ...get, timeout: 1_500 }).catch((error: unknown) => error);
  await until(() => server.requests.length === 1 && transport.stats.inFlight === 0);
  await clock.advanceInTurns(1_000);
  // The next attempt would come after the end of the call.
  expect(await failure).toMatchObject({ name: "ApiError", code: 429 });
  expect(server.requests).toHaveLength(2);
});

test("transport ends an attempt with its call, and tells what was answered before", async () => {
  const clock = new FakeClock();
  const { server, transport } = await start(
    (_, reply) => {
      if (server.requests.length === 1)
        sendStatus(reply, 429, { message: "too busy", headers: { "retry-after": "1" } });
    },
    { transport: { clock } },
  );
  const failure = transport
    .request({ method: "PUT", path: "/x", body: {}, timeout: 1_500 })
    .catch((error: unknown) => error);
  await until(() => server.requests.length === 1 && transport.stats.inFlight === 0);
  await clock.advanceInTurns(1_000);
  await until(() => server.requests.length === 2);
  await clock.advanceInTurns(499);
  expect(transport.stats.inFlight).toBe(1);
  await clock.advanceInTurns(1);
  expect(await failure).toMatchObject({
    name: "UnreachableError",
    code: "ETIMEDOUT",
    message: expect.stringMatching(/no answer to PUT \/x within 1.5 s.*TooManyRequests \(429\): too busy/),
    cause: { name: "ApiError", code: 429 },
  });
});

test.each(["while it waits", "while it is tried again"])(
  "transport tells of the answers before, when the caller gives a call up %s",
  async (when) => {
    const clock = new FakeClock();
    const { server, transport } = await start(
      (_, reply) => {
        if (server.requests.length === 1) sendStatus(reply, 429, { headers: { "retry-after": "1" } });
      },
      { transport: { clock } },
    );
    const caller = new AbortController();
    const failure = transport.request({ ...get, signal: caller.signal }).catch((error: unknown) => error);
    await until(() => server.requests.length === 1 && transport.stats.inFlight === 0);
    if (when === "while it is tried again") {
      await clock.advanceInTurns(1_000);
      await until(() => server.requests.length === 2);
    }
    caller.abort(new DOMException("The operation timed out.", "TimeoutError"));
    expect(await failure).toMatchObject({
      name: "TimeoutError",
      message: expect.stringMatching(/^The operation timed out\..*TooManyRequests \(429\)/),
      cause: { name: "ApiError", code: 429 },
    });
    expect(transport.stats.inFlight).toBe(0);
  },
);

test("REST-01 transport does not retry 429 without Retry-After", async () => {
  const { server, transport } = await start((_, reply) => sendStatus(reply, 429));
  expect(await transport.request(get).catch(isTooManyRequests)).toBe(true);
  expect(server.requests).toHaveLength(1);
});

test("REST-04 transport sends a GET again after two lost connections, and a write not", async () => {
  const { server, transport } = await start((request, reply) => {
    if (server.requests.length <= 2 || request.method === "PUT") request.socket.destroy();
    else sendJson(reply, { ok: 1 });
  });
  expect(await transport.request<unknown>(get)).toEqual({ ok: 1 });
  expect(server.requests).toHaveLength(3);
  expect(await transport.request({ method: "PUT", path: "/x", body: {} }).catch(isUnreachable)).toBe(true);
  expect(server.lines.filter((line) => line.startsWith("PUT"))).toHaveLength(1);
});

test("REST-03 transport tells a refused connection at once and recovers when the server is there", async () => {
  const server = await startLoopback((_, reply) => sendJson(reply, {}));
  const port = Number(new URL(server.config.server).port);
  await server[Symbol.asyncDispose]();
  const transport = createTransport(server.config);
  cleanup.defer(() => transport.close());
  const changes: boolean[] = [];
  transport.reachability.onChange((reachable) => changes.push(reachable));
  const error = await transport.request(get).catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ name: "UnreachableError", code: "ECONNREFUSED" });
  await until(() => !transport.reachability.reachable);
  const again = cleanup.use(await startLoopback((_, reply) => sendJson(reply, {}), { port }));
  await transport.reachability.wait(AbortSignal.timeout(4_000));
  expect(changes).toEqual([false, true]);
  await transport.request(get);
  expect(again.lines.at(-1)).toBe("GET /api/v1/pods");
});

test("transport reloads the credentials once for many requests refused with 401", async () => {
  let token = "old";
  let reloads = 0;
  const headers = { old: { authorization: "old" }, new: { authorization: "new" } };
  const { server, transport } = await start(
    (request, reply) => (request.headers.authorization === "new" ? sendJson(reply, {}) : sendStatus(reply, 401)),
    {
      headers: () => headers[token as "old" | "new"],
      reload: async () => {
        reloads++;
        await sleep(5);
        token = "new";
        return true;
      },
    },
  );
  await Promise.all(Array.from({ length: 5 }, () => transport.request(get)));
  await transport.stream({ ...get, onChunk() {} });
  expect(reloads).toBe(1);
  expect(server.requests).toHaveLength(11);
});

test("transport throws ApiError 401 that names the user when reloading changed nothing", async () => {
  const { server, transport } = await start((_, reply) => sendStatus(reply, 401));
  const error = await transport.request(get).catch((thrown: unknown) => thrown);
  expect(isUnauthorized(error)).toBe(true);
  expect(String(error)).toEndWith("(user 'jane', context 'loopback')");
  expect(server.requests).toHaveLength(1);
});

test("transport makes an ApiError of a body that is no Status", async () => {
  const { transport } = await start((_, reply) => void reply.writeHead(404).end("404 page not found\n"));
  const error = await transport.request(get).catch((thrown: unknown) => thrown);
  expect(isNotFound(error)).toBe(true);
  expect(String(error)).toBe("ApiError: Cannot list pods: NotFound (404): 404 page not found");
});

test("transport says that an answer is not JSON", async () => {
  const { transport } = await start((_, reply) => void reply.end("<html>"));
  expect(transport.request(get)).rejects.toThrow("Cannot read the answer to GET /api/v1/pods: it is not JSON");
});

test("transport gives up a request after its timeout", async () => {
  const { transport } = await start((request, reply) => (request.path === "/readyz" ? sendJson(reply, {}) : undefined));
  const error = await transport.request({ ...get, timeout: 30 }).catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ name: "UnreachableError", code: "ETIMEDOUT" });
  await transport.reachability.wait(AbortSignal.timeout(2_000));
  expect(transport.reachability.reachable).toBe(true);
});

test("transport tells each warning once and counts answers", async () => {
  const warnings: string[] = [];
  const counted: string[] = [];
  const { transport } = await start((_, reply) => sendJson(reply, {}, { headers: { warning: '299 - "old"' } }), {
    transport: {
      onWarning: (text) => warnings.push(text),
      onRequest: (method, code) => counted.push(`${method} ${code}`),
    },
  });
  await transport.request(get);
  await transport.request({ ...get, traffic: "lease" });
  expect(warnings).toEqual(["old"]);
  expect(counted).toEqual(["GET 200", "GET 200"]);
});

test.each([
  ["plain", "request"],
  ["plain", "list"],
  ["h2", "request"],
  ["h2", "list"],
] as const)(
  "transport sends a header of several values as several lines over %s in a %s",
  async (protocol, traffic) => {
    const { server, transport } = await start((_, reply) => sendJson(reply, {}), {
      protocol,
      headers: () => ({ "impersonate-group": ["a", "b"] }),
    });
    await transport.request({ ...get, traffic });
    const raw = server.requests[0]?.raw ?? [];
    const values = raw.filter((_, index) => raw[index - 1]?.toLowerCase() === "impersonate-group" && index % 2 === 1);
    expect(values.join("|")).toMatch(/^a\|b$/);
  },
);

test("transport what a caller's callback throws ends that request, and none beside it", async () => {
  const { transport } = await start(
    (request, reply) => {
      if (request.path === "/watch") reply.writeHead(200).write("x");
      else sendJson(reply, {}, { headers: { warning: `299 - "${request.path}"` } });
    },
    {
      transport: {
        onWarning: (text) => {
          if (text === "/bad") throw new Error("no warnings, please");
        },
      },
    },
  );
  const bad = transport.request({ method: "POST", path: "/bad", body: {} }).catch(String);
  const good = transport.request<unknown>({ method: "POST", path: "/good", body: {} });
  expect(await bad).toBe("Error: no warnings, please");
  expect(await good).toEqual({});
  const refused = transport.stream({ method: "GET", path: "/watch", onChunk() {}, onHeaders: () => fail("headers") });
  const cut = transport.stream({ method: "GET", path: "/watch", onChunk: () => fail("chunk") });
  const ends = await Promise.allSettled([refused, cut]);
  expect(ends.map((end) => end.status === "rejected" && String(end.reason))).toEqual([
    "Error: headers",
    "Error: chunk",
  ]);
  expect(transport.stats).toMatchObject({ streams: 0, inFlight: 0 });
});

function fail(message: string): never {
  throw new Error(message);
}

test("transport fails a request whose credentials cannot be had, and keeps nothing of it", async () => {
  const { transport } = await start((_, reply) => sendJson(reply, {}), { headers: () => fail("no token") });
  expect(await transport.request(get).catch(String)).toBe("Error: no token");
  expect(transport.stats.inFlight).toBe(0);
});

test("transport carries a burst of 1,000 requests over four sessions", async () => {
  const { server, transport } = await start((request, reply) => sendJson(reply, { path: request.path }));
  const paths = Array.from({ length: 1_000 }, (_, i) => `/x/${i}`);
  const answers = await Promise.all(paths.map((path) => transport.request<{ path: string }>({ method: "GET", path })));
  expect(answers.map(({ path }) => path)).toEqual(paths);
  expect(server.sockets.size).toBe(4);
});

test("transport opens 200 watches on three sessions and answers requests meanwhile", async () => {
  const { server, transport } = await start((request, reply) => {
    if (request.query.has("watch")) reply.writeHead(200).write("x");
    else sendJson(reply, {});
  });
  const controller = new AbortController();
  let open = 0;
  const streams = Array.from({ length: 200 }, () =>
    transport
      .stream({ ...get, query: "watch=1", signal: controller.signal, onChunk: () => void open++ })
      .catch(() => {}),
  );
  await until(() => open === 200);
  expect(transport.stats).toMatchObject({ sessions: 3, streams: 200 });
  await transport.request(get);
  await transport.request({ ...get, traffic: "lease" });
  expect(server.sockets.size).toBe(5);
  controller.abort();
  await Promise.all(streams);
  expect(transport.stats.streams).toBe(0);
});

test("transport sends again, whatever it is, what the server did not begin before it said goodbye", async () => {
  const { server, transport } = await start((request, reply) => {
    if (request.path === "/bye") goodbye(reply);
    if (request.path !== "/watch") return sendJson(reply, {});
    reply.writeHead(200).write("x");
    setTimeout(() => reply.end(), 100);
  });
  let chunks = 0;
  const watching = transport.stream({ method: "GET", path: "/watch", onChunk: () => void chunks++ });
  await until(() => chunks === 1);
  const lease = { traffic: "lease", body: {} } as const;
  for (const method of ["POST", "PUT", "PATCH"] as const) {
    const bye = transport.request({ ...lease, method, path: "/bye" });
    const others = Array.from({ length: 20 }, (_, i) =>
      transport.request({ ...lease, method, path: `/${method}/${i}` }),
    );
    await Promise.all([bye, ...others]);
  }
  await watching;
  expect(new Set(server.lines.filter((line) => /[0-9]$/.test(line))).size).toBe(60);
  expect(transport.stats).toMatchObject({ streams: 0, inFlight: 0 });
});

/** GOAWAY on the connection of an answer. */
function goodbye(reply: unknown): void {
  const { stream } = reply as ServerHttp2Stream & { stream: ServerHttp2Stream };
  stream.session?.goaway(0, stream.id ?? 0);
}

test("transport fails a watch when pings stay unanswered, and not before", async () => {
  const clock = new FakeClock();
  const { server } = await start((request, reply) => {
    if (request.query.has("watch")) reply.writeHead(200).write("x");
    else sendJson(reply, {});
  });
  const link = cleanup.use(await startLink(Number(new URL(server.config.server).port)));
  const transport = createTransport(
    { ...server.config, server: `https://127.0.0.1:${link.port}` },
    { clock, switches: { http2: true } },
  );
  cleanup.defer(() => transport.close());
  let open = false;
  const failure = transport
    .stream({ ...get, query: "watch=1", onChunk: () => void (open = true) })
    .catch((error: unknown) => error);
  let failed = false;
  void failure.then(() => (failed = true));
  await until(() => open);
  for (let tick = 0; tick < 5; tick++) {
    await clock.advanceInTurns(2_000);
    await sleep(100);
  }
  expect(failed).toBe(false);
  link.stall();
  await clock.advanceInTurns(8_000);
  expect(await failure).toMatchObject({ name: "UnreachableError", code: "ENETRESET" });
});

test("transport sends a GET again whose connection is dead, and a write not", async () => {
  const clock = new FakeClock();
  const { server } = await start((request, reply) => {
    if (request.query.has("watch")) reply.writeHead(200).write("x");
    else if (request.path !== "/slow") sendJson(reply, { via: "new" });
  });
  const link = cleanup.use(await startLink(Number(new URL(server.config.server).port)));
  const transport = createTransport(
    { ...server.config, server: `https://127.0.0.1:${link.port}` },
    { clock, switches: { http2: true } },
  );
  cleanup.defer(() => transport.close());
  let open = false;
  const failure = transport
    .stream({ ...get, query: "watch=1", onChunk: () => void (open = true) })
    .catch((error: unknown) => error);
  await transport.request(get);
  await until(() => open);
  await transport.request({ ...get, traffic: "list" });
  link.stall();
  const read = transport.request<unknown>(get);
  const list = transport.request<unknown>({ ...get, traffic: "list" });
  const write = transport.request({ ...get, method: "PUT", body: {} }).catch((error: unknown) => error);
  await clock.advanceInTurns(8_000);
  expect(await failure).toMatchObject({ code: "ENETRESET" });
  expect(await write).toMatchObject({ name: "UnreachableError", code: "ENETRESET" });
  await transport.reachability.wait(AbortSignal.timeout(2_000));
  expect(await read).toEqual({ via: "new" });
  expect(await list).toEqual({ via: "new" });
});

test("transport fails a stream that is silent for its idle timeout", async () => {
  const clock = new FakeClock();
  let write: (() => void) | undefined;
  const { transport } = await start(
    (_, reply) => {
      reply.writeHead(200);
      write = () => void reply.write("x");
      write();
    },
    { transport: { clock }, protocol: "http/1.1" },
  );
  let chunks = 0;
  const failure = transport
    .stream({ ...get, idleTimeout: 1_000, onChunk: () => void chunks++ })
    .catch((error: unknown) => error);
  await until(() => chunks === 1);
  await clock.advanceInTurns(900);
  write?.();
  await until(() => chunks === 2);
  await clock.advanceInTurns(900);
  expect(transport.stats.streams).toBe(1);
  await clock.advanceInTurns(100);
  expect(await failure).toMatchObject({ code: "ETIMEDOUT" });
});

test("transport ends a stream whose callback throws, with what it threw", async () => {
  const { transport } = await start((_, reply) => void reply.writeHead(200).write("x"));
  const stream = transport.stream({
    ...get,
    onChunk() {
      throw new TypeError("in the handler");
    },
  });
  expect(stream).rejects.toThrow("in the handler");
  await stream.catch(() => {});
  expect(transport.stats.streams).toBe(0);
});

test("transport says what is wrong with the server's certificate", async () => {
  const { server } = await start((_, reply) => sendJson(reply, {}));
  const config = { ...server.config, tls: { ...loopbackTls, serverName: "elsewhere" } };
  const transport = createTransport(config);
  cleanup.defer(() => transport.close());
  for (const traffic of ["request", "lease"] as const) {
    expect(transport.request({ ...get, traffic })).rejects.toThrow(
      "its certificate is for another host name: set tls-server-name",
    );
  }
  const insecure = createTransport({ ...config, tls: { ...config.tls, ca: undefined, rejectUnauthorized: false } });
  cleanup.defer(() => insecure.close());
  expect(await insecure.request<unknown>(get)).toEqual({});
});

test("transport close ends what is in flight and refuses what comes after", async () => {
  const { server, transport } = await start((_, reply) => void reply.writeHead(200).write(" "));
  const request = transport.request(get).catch((error: unknown) => error);
  const stream = transport.stream({ ...get, onChunk() {} }).catch((error: unknown) => error);
  await until(() => server.requests.length === 2);
  await transport.close();
  expect(await request).toMatchObject({ code: "ECONNABORTED" });
  expect(await stream).toMatchObject({ code: "ECONNABORTED" });
  expect(transport.request(get)).rejects.toThrow("the transport was closed");
  expect(transport.stats).toMatchObject({ streams: 0, inFlight: 0 });
});

/** Forwards bytes until it is told to stall: then the connections of before are dead without a word, new ones work. */
async function startLink(to: number): Promise<{ port: number; stall: () => void } & AsyncDisposable> {
  const sockets = new Set<net.Socket>();
  const dead = new Set<net.Socket>();
  const listener = net.createServer((socket) => {
    const upstream = net.connect(to, "127.0.0.1");
    sockets.add(socket).add(upstream);
    const [a, b] = [socket, upstream];
    for (const [from, into] of [
      [a, b],
      [b, a],
    ] as const) {
      from.on("data", (chunk) => void (dead.has(from) || into.write(chunk)));
      from.on("error", () => {});
      from.on("close", () => into.destroy());
    }
  });
  await new Promise<void>((resolve) => void listener.listen(0, "127.0.0.1", resolve));
  return {
    port: (listener.address() as net.AddressInfo).port,
    stall: () => {
      for (const socket of sockets) dead.add(socket);
    },
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      listener.close();
    },
  };
}

test("with HTTP/2 switched off everything goes over HTTP/1.1 to a server that has both", async () => {
  const { server, transport } = await start((_, reply) => sendJson(reply, {}), {
    protocol: "h2",
    transport: { switches: { http2: false } },
  });
  await transport.request(get);
  await transport.request({ ...get, traffic: "list" });
  await transport.request({ ...get, traffic: "lease" });
  await transport.stream({ ...get, onChunk: () => {} });
  expect(server.requests.map(({ httpVersion }) => httpVersion)).toEqual(["1.1", "1.1", "1.1", "1.1"]);
  expect(transport.stats.protocol).toBe("http/1.1");
});

test("with read pacing switched off requests are answered as ever", async () => {
  const { transport } = await start((_, reply) => sendJson(reply, { a: 1 }), {
    protocol: "h2",
    transport: { switches: { readPacing: false } },
  });
  const answers = await Promise.all(Array.from({ length: 20 }, () => transport.request<unknown>(get)));
  expect(answers).toEqual(answers.map(() => ({ a: 1 })));
});
