import { afterAll, expect, test } from "bun:test";
import { once } from "node:events";
import { request as http1 } from "node:http";
import { connect as http2 } from "node:http2";
import { connect } from "node:net";
import { fetchOnce, openFetchSession } from "#runtime/fetch-session";
import { freeAddress, hostOf, serve } from "#runtime/http-server";
import { loopbackServerTls, loopbackTls } from "../../tests/support/loopback-server.ts";
import { until } from "../../tests/support/until.ts";
import type { HttpServer, ServeOptions } from "./http-server.ts";

const cleanup = new AsyncDisposableStack();
afterAll(() => cleanup.disposeAsync());

function start(options: Partial<ServeOptions> & Pick<ServeOptions, "fetch">): HttpServer {
  const server = serve({ hostname: "127.0.0.1", port: 0, reusePort: false, ...options });
  cleanup.defer(() => server.stop(true));
  return server;
}

const echo = async (request: Request): Promise<Response> =>
  Response.json({ method: request.method, host: hostOf(request), body: await request.text() });

/** Sends a request over HTTP/2. */
async function overHttp2(port: number): Promise<{ status: number; body: string; end: () => Promise<void> }> {
  const session = http2(`https://localhost:${port}`, { ca: loopbackTls.ca, lookup: undefined });
  const stream = session.request({ ":path": "/over-h2" });
  const [headers] = (await once(stream, "response")) as [{ ":status": number }];
  let body = "";
  for await (const chunk of stream.setEncoding("utf8")) body += chunk as string;
  return { status: headers[":status"], body, end: () => new Promise((resolve) => session.close(resolve)) };
}

test("serve answers over HTTP/1.1 and HTTP/2 with TLS, and knows the host either way", async () => {
  const { port } = start({ tls: loopbackServerTls, fetch: echo });
  const init = { method: "POST", body: "hello" };
  const first = await fetchOnce(`https://127.0.0.1:${port}/x`, init, { ca: loopbackTls.ca });
  expect(await first.json()).toEqual({ method: "POST", host: `127.0.0.1:${port}`, body: "hello" });
  const second = await overHttp2(port);
  expect([second.status, JSON.parse(second.body)]).toEqual([
    200,
    { method: "GET", host: `localhost:${port}`, body: "" },
  ]);
  await second.end();
});

test("fetchOnce compares the certificate with the server name that it is given, also an address", async () => {
  const { port } = start({ tls: loopbackServerTls, fetch: echo });
  const statusFor = (serverName: string) =>
    fetchOnce(`https://127.0.0.1:${port}/`, {}, { ca: loopbackTls.ca, serverName }).then(
      ({ status }) => status,
      ({ code }: { readonly code?: string }) => code,
    );
  expect(await Promise.all([statusFor("127.0.0.1"), statusFor("localhost")])).toEqual([200, 200]);
  expect(await statusFor("other.example")).toBe("ERR_TLS_CERT_ALTNAME_INVALID");
});

test("serve says where a request comes from", async () => {
  const { port } = start({ fetch: (request, peers) => new Response(peers.addressOf(request)) });
  expect(await (await fetchOnce(`http://127.0.0.1:${port}/`, {}, {})).text()).toBe("127.0.0.1");
});

test("serve listens on all interfaces unless it is told one", async () => {
  const server = serve({ port: 0, reusePort: false, fetch: echo });
  cleanup.defer(() => server.stop(true));
  expect((await fetchOnce(`http://127.0.0.1:${server.port}/`, {}, {})).status).toBe(200);
  expect(server.hostname).toBe("localhost");
});

test("serve rejects bodies that are too large", async () => {
  const { port } = start({ largestBody: 1_000, fetch: echo });
  const statusOf = async (size: number) => {
    const body = "x".repeat(size);
    return (await fetchOnce(`http://127.0.0.1:${port}/`, { method: "POST", body }, {})).status;
  };
  expect([await statusOf(1_000), await statusOf(1_001)]).toEqual([200, 413]);
});

test("serve ends a body without a length when it becomes too large", async () => {
  const read = Promise.withResolvers<number>();
  const { port } = start({
    largestBody: 1_000,
    fetch: async (request) => {
      const bytes = await request.arrayBuffer().then(
        ({ byteLength }) => byteLength,
        () => 0,
      );
      read.resolve(bytes);
      return new Response(null, { status: bytes === 0 ? 413 : 200 });
    },
  });
  const sent = http1({ port, host: "127.0.0.1", method: "POST", headers: { "transfer-encoding": "chunked" } });
  const answered = once(sent, "response").catch(() => undefined);
  sent.on("error", () => {});
  for (let piece = 0; piece < 200; piece++) sent.write("y".repeat(100_000));
  sent.end();
  await Promise.race([answered, read.promise]);
  sent.destroy();
  const [response] = ((await Promise.race([answered, read.promise.then(() => undefined)])) ?? []) as [
    { statusCode: number }?,
  ];
  expect(response?.statusCode ?? 413).toBe(413);
});

test("serve tells a handler that its client has gone, and cancels the body that it streams", async () => {
  const told: string[] = [];
  const { port } = start({
    fetch: (request) => {
      request.signal.addEventListener("abort", () => void told.push("abort"));
      const body = new ReadableStream<Uint8Array>({ start: (controller) => controller.enqueue(Buffer.from("begun")) });
      return new Response(body);
    },
  });
  const given = new AbortController();
  const response = await fetchOnce(`http://127.0.0.1:${port}/`, { signal: given.signal }, {});
  const reader = response.body!.getReader();
  expect(Buffer.from((await reader.read()).value!).toString()).toBe("begun");
  expect(told).toEqual([]);
  given.abort(new Error("enough"));
  await expect(reader.read()).rejects.toThrow();
  await until(() => told.length > 0, { what: "the handler is told" });
});

test("serve refuses a port in use, unless it may be shared", async () => {
  const { port } = start({ fetch: echo });
  expect(() => start({ port, fetch: echo })).toThrow(expect.objectContaining({ code: "EADDRINUSE" }));
  const shared = start({ reusePort: true, fetch: echo });
  expect(start({ port: shared.port, reusePort: true, fetch: echo }).port).toBe(shared.port);
});

function accepts(port: number): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const socket = connect(port, "127.0.0.1");
  socket.on("error", () => resolve(false)).on("connect", () => resolve(true));
  return promise.finally(() => socket.destroy());
}

test("freeAddress says where a server may listen at once, and that somebody does", () => {
  for (let round = 0; round < 20; round++) {
    const { hostname, port } = freeAddress({ hostname: "127.0.0.1", port: 0 });
    expect(hostname).toBe("127.0.0.1");
    start({ port, reusePort: true, fetch: echo });
    expect(() => freeAddress({ hostname: "127.0.0.1", port })).toThrow(expect.objectContaining({ code: "EADDRINUSE" }));
  }
});

test("stop lets active requests end and accepts no more connections", async () => {
  const open = Promise.withResolvers<void>();
  const entered = Promise.withResolvers<void>();
  const server = start({
    fetch: async () => {
      entered.resolve();
      await open.promise;
      return new Response("late", { headers: { connection: "close" } });
    },
  });
  using session = openFetchSession({});
  const answer = session.fetch(`http://127.0.0.1:${server.port}/`, {});
  await entered.promise;
  const stopped = server.stop();
  await until(async () => !(await accepts(server.port)), { what: "new connections are refused" });
  open.resolve();
  expect(await (await answer).text()).toBe("late");
  session.close();
  await stopped;
});

test("a session that is closed lets its active requests end", async () => {
  const open = Promise.withResolvers<void>();
  const entered = Promise.withResolvers<void>();
  const server = start({
    fetch: async () => {
      entered.resolve();
      await open.promise;
      return new Response("late");
    },
  });
  const session = openFetchSession({});
  const answer = session.fetch(`http://127.0.0.1:${server.port}/`, {});
  await entered.promise;
  session.close();
  open.resolve();
  expect(await (await answer).text()).toBe("late");
});

test("stop cuts off active requests when it is asked to", async () => {
  const entered = Promise.withResolvers<void>();
  const server = start({
    fetch: () => {
      entered.resolve();
      return new Promise<Response>(() => {});
    },
  });
  const failed = fetchOnce(`http://127.0.0.1:${server.port}/`, {}, {}).then(
    () => "answered",
    () => "cut off",
  );
  await entered.promise;
  await server.stop(true);
  expect(await failed).toBe("cut off");
});
