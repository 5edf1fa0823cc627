import { afterAll, expect, test } from "bun:test";
import { once } from "node:events";
import https from "node:https";
import type { AddressInfo } from "node:net";
import { loopbackAuthority, loopbackTls } from "../../../tests/support/loopback-server.ts";
import { issue } from "binnacle-apiserver";
import type { ClusterConfig, TlsSettings } from "../config/cluster-config.ts";
import { openHttp1 } from "./http1-request.ts";

const certificate = issue(loopbackAuthority, { subject: { name: "server" }, hosts: ["127.0.0.1"] });
const server = https.createServer({ ...certificate }, (_, response) => void response.end("{}"));
server.on("tlsClientError", () => {}).listen(0, "127.0.0.1");
await once(server, "listening");
afterAll(() => void server.close());

/** @returns the status, or the code of the failure. */
function ask(host: string, settings: Partial<TlsSettings>): Promise<unknown> {
  const config: ClusterConfig = {
    server: `https://${host}:${(server.address() as AddressInfo).port}`,
    context: "c",
    user: "u",
    namespace: "default",
    tls: { ...loopbackTls, ...settings },
    headers: () => ({}),
    reload: async () => false,
  };
  const { promise, resolve } = Promise.withResolvers<unknown>();
  let answered: number | undefined;
  openHttp1(
    config,
    { method: "GET", path: "/x", headers: {} },
    {
      onResponse: (status) => void (answered = status),
      onChunk: () => {},
      onEnd: () => resolve(answered),
      onError: ({ code }) => resolve(code),
    },
  );
  return promise;
}

test("openHttp1 compares the server's certificate with the host, or the name that is given, also an address", async () => {
  expect(await ask("127.0.0.1", {})).toBe(200);
  expect(await ask("localhost", {})).toBe("ERR_TLS_CERT_ALTNAME_INVALID");
  expect(await ask("localhost", { serverName: "127.0.0.1" })).toBe(200);
  expect(await ask("127.0.0.1", { serverName: "10.9.9.9" })).toBe("ERR_TLS_CERT_ALTNAME_INVALID");
  expect(await ask("127.0.0.1", { serverName: "other.example" })).toBe("ERR_TLS_CERT_ALTNAME_INVALID");
  expect(await ask("127.0.0.1", { serverName: "other.example", rejectUnauthorized: false })).toBe(200);
});

test("openHttp1 takes an authority beside one that cannot be read", async () => {
  const broken = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
  expect(await ask("127.0.0.1", { ca: `${loopbackTls.ca}\n${broken}` })).toBe(200);
});
