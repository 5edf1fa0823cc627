import { afterAll, expect, test } from "bun:test";
import http from "node:http";
import net, { type AddressInfo } from "node:net";
import {
  loopbackAuthority,
  loopbackTls,
  sendJson,
  startLoopback,
  type LoopbackOptions,
} from "../../../tests/support/loopback-server.ts";
import { issue } from "binnacle-apiserver";
import { isUnreachable } from "../errors/api-error.ts";
import { createTransport } from "./transport.ts";

const cleanup = new AsyncDisposableStack();
afterAll(() => cleanup.disposeAsync());

interface Proxy {
  readonly url: string;
  /** Such as `CONNECT 127.0.0.1:6443` or `GET http://127.0.0.1:8001/x`. */
  readonly seen: string[];
  readonly authorizations: Set<string | undefined>;
}

async function startProxy(): Promise<Proxy> {
  const seen: string[] = [];
  const authorizations = new Set<string | undefined>();
  const note = (request: http.IncomingMessage) => {
    seen.push(`${request.method} ${request.url}`);
    authorizations.add(request.headers["proxy-authorization"]);
  };
  const server = http.createServer((request, reply) => {
    note(request);
    const onward = http.request(
      request.url ?? "",
      { method: request.method ?? "GET", headers: request.headers },
      (answer) => {
        reply.writeHead(answer.statusCode ?? 502);
        answer.pipe(reply);
      },
    );
    request.pipe(onward);
  });
  server.on("connect", (request, client) => {
    note(request);
    const { hostname, port } = new URL(`http://${request.url}`);
    const upstream = net.connect(Number(port), hostname, () => {
      client.write("HTTP/1.1 200 Connection established\r\n\r\n");
      client.pipe(upstream).pipe(client);
    });
    upstream.on("error", () => client.destroy());
    client.on("error", () => upstream.destroy());
    client.on("close", () => upstream.destroy());
  });
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  cleanup.defer(() => server.closeAllConnections());
  cleanup.defer(() => void server.close());
  const { port } = server.address() as AddressInfo;
  return { url: `http://user:pass@127.0.0.1:${port}`, seen, authorizations };
}

test.each([
  ["h2", "2.0"],
  ["http/1.1", "1.1"],
  ["plain", "1.1"],
] as const)("transport goes through a proxy to a server that speaks %s", async (protocol, version) => {
  const proxy = await startProxy();
  const options: LoopbackOptions = { protocol, proxy: proxy.url };
  const server = cleanup.use(
    await startLoopback((request, reply) => {
      if (!request.query.has("watch")) return sendJson(reply, { got: request.body });
      reply.writeHead(200).write("one ");
      setTimeout(() => reply.end("two"), 5);
    }, options),
  );
  const transport = createTransport(server.config, { switches: { http2: true } });
  cleanup.defer(() => transport.close());
  expect(await transport.request<unknown>({ method: "PUT", path: "/x", body: "{}" })).toEqual({ got: "{}" });
  const chunks: string[] = [];
  await transport.stream({
    method: "GET",
    path: "/y",
    query: "watch=1",
    onChunk: (chunk) => void chunks.push(Buffer.from(chunk).toString()),
  });
  expect(chunks.join("")).toBe("one two");
  expect(transport.stats).toMatchObject({ streams: 0, protocol: protocol === "h2" ? "h2" : "http/1.1" });
  expect(server.requests.map(({ httpVersion }) => httpVersion)).toEqual([version, version]);
  const host = new URL(server.config.server).host;
  expect(proxy.seen[0]).toBe(protocol === "plain" ? `PUT http://${host}/x` : `CONNECT ${host}`);
  expect(proxy.authorizations).toEqual(new Set([`Basic ${btoa("user:pass")}`]));
});

test("transport names the proxy that refuses", async () => {
  const server = http.createServer();
  server.on("connect", (_, client) => client.end("HTTP/1.1 407 Proxy Authentication Required\r\n\r\n"));
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  cleanup.defer(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const { config } = cleanup.use(await startLoopback(() => {}, { proxy: `http://127.0.0.1:${port}` }));
  const transport = createTransport(config, { switches: { http2: true } });
  cleanup.defer(() => transport.close());
  const error = await transport.stream({ method: "GET", path: "/y", onChunk() {} }).catch((thrown: unknown) => thrown);
  expect(isUnreachable(error)).toBe(true);
  expect(String(error)).toContain(`the proxy 127.0.0.1:${port} refused with HTTP 407`);
});

// Its server is of Bun.
test.skipIf(typeof Bun === "undefined")("transport opens channels through a proxy", async () => {
  const proxy = await startProxy();
  const certificate = issue(loopbackAuthority, { subject: { name: "server" }, hosts: ["127.0.0.1"] });
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    tls: { cert: certificate.cert, key: certificate.key },
    fetch: (request, self) =>
      self.upgrade(request, { headers: { "sec-websocket-protocol": "v5.channel.k8s.io" }, data: undefined })
        ? undefined
        : new Response("no", { status: 400 }),
    websocket: {
      message(socket, message) {
        socket.send(message); // back on the channel it came on
        socket.close();
      },
    },
  });
  cleanup.defer(() => server.stop(true));
  const transport = createTransport({
    server: `https://127.0.0.1:${server.port}`,
    context: "loopback",
    user: "jane",
    namespace: "default",
    tls: loopbackTls,
    proxy: proxy.url,
    headers: () => ({}),
    reload: async () => false,
  });
  cleanup.defer(() => transport.close());
  const seen: string[] = [];
  const channels = await transport.channels({
    path: "/exec",
    query: new URLSearchParams(),
    onMessage: (channel, bytes) => void seen.push(`${channel} ${Buffer.from(bytes).toString()}`),
  });
  await channels.send(2, Buffer.from("there and back"));
  await channels.closed;
  expect(seen).toEqual(["2 there and back"]);
  expect(proxy.seen).toEqual([`CONNECT 127.0.0.1:${server.port}`]);
});
