import { afterAll, expect, test } from "bun:test";
import { once } from "node:events";
import http from "node:http";
import net, { type AddressInfo, type Server } from "node:net";
import tls from "node:tls";
import { loopbackAuthority, loopbackTls } from "../../../tests/support/loopback-server.ts";
import { issue } from "binnacle-apiserver";
import type { TlsSettings } from "../config/cluster-config.ts";
import { connectTls } from "./connector.ts";

const cleanup = new AsyncDisposableStack();
afterAll(() => cleanup.disposeAsync());

async function listen(server: Server): Promise<number> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  cleanup.defer(() => void server.close());
  return (server.address() as AddressInfo).port;
}

/** A proxy that leads to this machine, whatever host it is asked for. */
async function startProxy(): Promise<string> {
  const proxy = http.createServer().on("connect", ({ url }, client) => {
    const upstream = net.connect(Number(url!.split(":").at(-1)), "127.0.0.1", () => {
      client.write("HTTP/1.1 200 OK\r\n\r\n");
      client.pipe(upstream).pipe(client);
    });
    upstream.on("error", () => client.destroy());
    client.on("error", () => upstream.destroy());
  });
  return `http://127.0.0.1:${await listen(proxy)}`;
}

const ports = {
  "127.0.0.1": await startServer("127.0.0.1"),
  localhost: await startServer("localhost"),
};
const proxy = await startProxy();

/** @param name the only one for which its certificate is. */
function startServer(name: string): Promise<number> {
  const certificate = issue(loopbackAuthority, { subject: { name: "server" }, hosts: [name] });
  const server = tls.createServer({ ...certificate }, (socket) => void socket.on("error", () => {}));
  return listen(server.on("tlsClientError", () => {}));
}

async function connect(
  to: { readonly host: string; readonly port: number; readonly proxy?: string | undefined },
  settings: Partial<TlsSettings> = {},
): Promise<unknown> {
  try {
    const server = new URL(`https://${to.host}:${to.port}`);
    const socket = await connectTls({
      server,
      proxy: to.proxy,
      protocols: ["h2"],
      tls: { ...loopbackTls, ...settings },
    });
    socket.destroy();
    return "connected";
  } catch (error) {
    return (error as { readonly code?: unknown }).code;
  }
}

const hosts = ["127.0.0.1", "localhost"] as const;

test.each([
  ["directly", undefined],
  ["through a proxy", proxy],
] as const)("connectTls compares a certificate with the host, or the name that is given: %s", async (_, through) => {
  for (const certified of hosts) {
    for (const host of hosts) {
      for (const serverName of [undefined, ...hosts]) {
        const expected = (serverName ?? host) === certified ? "connected" : "ERR_TLS_CERT_ALTNAME_INVALID";
        const to = { host, port: ports[certified], proxy: through };
        expect([to, serverName, await connect(to, { serverName })]).toEqual([to, serverName, expected]);
      }
    }
  }
});

test("connectTls takes what can be read of the authorities, and refuses those of which nothing can", async () => {
  const broken = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
  const to = { host: "localhost", port: ports.localhost };
  expect(await connect(to, { ca: `${broken}${loopbackTls.ca}` })).toBe("connected");
  expect(await connect(to, { ca: `# ours\n${loopbackTls.ca}\n${broken}` })).toBe("connected");
  expect(await connect(to, { ca: broken })).toBe("ERR_SSL_INVALID_CA");
});
