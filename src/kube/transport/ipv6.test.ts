/** Servers and proxies whose address is one of IPv6. */
import { afterAll, expect, test } from "bun:test";
import http from "node:http";
import net, { type AddressInfo } from "node:net";
import { networkInterfaces } from "node:os";
import { sendJson, startLoopback } from "../../../tests/support/loopback-server.ts";
import { createTransport } from "./transport.ts";

const cleanup = new AsyncDisposableStack();
afterAll(() => cleanup.disposeAsync());

/** Some machines have IPv6 switched off. */
const hasIPv6 = Object.values(networkInterfaces()).some((all) => all?.some(({ address }) => address === "::1"));

const PROTOCOLS = ["h2", "http/1.1", "plain"] as const;

/** A proxy on `[::1]`; what it was asked for goes into `seen`. */
async function startProxy(seen: string[]): Promise<string> {
  const server = http.createServer((request, reply) => {
    seen.push(`${request.method} ${request.url}`);
    const { method = "GET", headers, url = "" } = request;
    const onward = http.request(url, { method, headers }, (answer) => {
      reply.writeHead(answer.statusCode ?? 502);
      answer.pipe(reply);
    });
    request.pipe(onward);
  });
  server.on("connect", (request, client) => {
    seen.push(`CONNECT ${request.url}`);
    const { hostname, port } = new URL(`http://${request.url}`);
    const upstream = net.connect(Number(port), hostname.replace(/^\[|\]$/g, ""), () => {
      client.write("HTTP/1.1 200 Connection established\r\n\r\n");
      client.pipe(upstream).pipe(client);
    });
    upstream.on("error", () => client.destroy());
    client.on("error", () => upstream.destroy());
    client.on("close", () => upstream.destroy());
  });
  await new Promise<void>((resolve) => void server.listen(0, "::1", resolve));
  cleanup.defer(() => server.closeAllConnections());
  cleanup.defer(() => void server.close());
  return `http://[::1]:${(server.address() as AddressInfo).port}`;
}

async function useTransport(protocol: (typeof PROTOCOLS)[number], proxy?: string) {
  const server = cleanup.use(
    await startLoopback(
      (request, reply) => {
        if (!request.query.has("watch")) return sendJson(reply, { got: request.body });
        reply.writeHead(200).end("one");
      },
      { protocol, host: "::1", proxy },
    ),
  );
  const transport = createTransport(server.config, { switches: { http2: true } });
  cleanup.defer(() => transport.close());
  const got = [
    await transport.request<unknown>({ method: "PUT", path: "/x", body: "{}" }),
    await transport.request<unknown>({ method: "GET", path: "/x", traffic: "list" }),
  ];
  const chunks: string[] = [];
  const onChunk = (chunk: Uint8Array): void => void chunks.push(Buffer.from(chunk).toString());
  await transport.stream({ method: "GET", path: "/y", query: "watch=1", onChunk });
  return { got, chunks: chunks.join(""), server };
}

test.skipIf(!hasIPv6).each(PROTOCOLS)("transport reaches a server at [::1] that speaks %s", async (protocol) => {
  const { got, chunks } = await useTransport(protocol);
  expect(got).toEqual([{ got: "{}" }, { got: "" }]);
  expect(chunks).toBe("one");
});

test.skipIf(!hasIPv6).each(PROTOCOLS)("transport goes through a proxy at [::1] to [::1], %s", async (protocol) => {
  const seen: string[] = [];
  const { got, chunks, server } = await useTransport(protocol, await startProxy(seen));
  expect(got).toEqual([{ got: "{}" }, { got: "" }]);
  expect(chunks).toBe("one");
  const { host } = new URL(server.config.server);
  expect(seen[0]).toBe(protocol === "plain" ? `PUT http://${host}/x` : `CONNECT ${host}`);
});
