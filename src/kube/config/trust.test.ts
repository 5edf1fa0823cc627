/** Whom requests trust, whatever carries them: nobody gets a token who has not shown the right certificate. */
import { afterAll, describe, expect, test } from "bun:test";
import http from "node:http";
import net, { type AddressInfo } from "node:net";
import tls, { type TLSSocket } from "node:tls";
import { rightCertificate, wrongCertificates } from "../../../tests/support/hostile/certificates.ts";
import { okHead, startHostile } from "../../../tests/support/hostile/hostile-server.ts";
import { loopbackTls, startLoopback } from "../../../tests/support/loopback-server.ts";
import { type Certificate, createAuthority, issue } from "binnacle-apiserver";
import { runtimeName } from "#runtime/about";
import type { ClusterConfig } from "./cluster-config.ts";
import { createTransport, type Transport } from "../transport/transport.ts";

const cleanup = new AsyncDisposableStack();
afterAll(() => cleanup.disposeAsync());

const ways: Readonly<Record<string, (transport: Transport) => Promise<unknown>>> = {
  request: (transport) => transport.request({ method: "GET", path: "/x" }),
  list: (transport) => transport.request({ method: "GET", path: "/x", traffic: "list" }),
  lease: (transport) => transport.request({ method: "GET", path: "/x", traffic: "lease" }),
  watch: (transport) => transport.stream({ method: "GET", path: "/x", onChunk() {} }),
  exec: async (transport) => {
    const channels = await transport.channels({ path: "/x", query: new URLSearchParams(), onMessage() {} });
    await channels.closed;
  },
};

const allButExec = Object.keys(ways).filter((way) => way !== "exec");

/** Notes every byte that it is told, and answers HTTP/1.1. */
async function startImpostor(
  certificate: Certificate,
  protocols: string[],
): Promise<{ port: number; heard: () => number }> {
  let heard = 0;
  const sockets = new Set<TLSSocket>();
  const server = tls.createServer({ ...certificate, ALPNProtocols: protocols }, (socket) => {
    sockets.add(socket.on("error", () => {}));
    socket.on("data", (bytes: Uint8Array) => {
      heard += bytes.length;
      socket.write("HTTP/1.1 200 OK\r\ncontent-length: 2\r\ncontent-type: application/json\r\n\r\n{}");
    });
  });
  server.on("tlsClientError", () => {});
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  cleanup.defer(() => {
    sockets.forEach((socket) => socket.destroy());
    server.close();
  });
  return { port: (server.address() as AddressInfo).port, heard: () => heard };
}

async function startProxy(): Promise<string> {
  const proxy = http.createServer();
  proxy.on("connect", (request, client) => {
    const upstream = net.connect(Number(request.url?.split(":")[1]), "127.0.0.1", () => {
      client.write("HTTP/1.1 200 OK\r\n\r\n");
      client.pipe(upstream).pipe(client);
    });
    for (const socket of [upstream, client])
      socket.on("error", () => upstream.destroy()).on("close", () => upstream.destroy());
  });
  await new Promise<void>((resolve) => {
    proxy.listen(0, "127.0.0.1", resolve);
  });
  cleanup.defer(() => {
    proxy.closeAllConnections();
    proxy.close();
  });
  return `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
}

const bare = { ...loopbackTls, cert: undefined, key: undefined };

function clusterAt(port: number, more: Partial<ClusterConfig> = {}): ClusterConfig {
  return {
    server: `https://127.0.0.1:${port}`,
    context: "c",
    user: "u",
    namespace: "default",
    tls: bare,
    headers: () => ({ authorization: "Bearer secret" }),
    reload: async () => false,
    ...more,
  };
}

const proxied = [undefined, await startProxy()];

describe.each(Object.entries(wrongCertificates))("a server's certificate with %s is refused", (_, certificate) => {
  test.each(Object.keys(ways))("by a %s, over HTTP/2 and HTTP/1.1, with and without a proxy", async (way) => {
    for (const protocols of [["h2"], ["http/1.1"], ["h2", "http/1.1"]]) {
      const impostor = await startImpostor(certificate, protocols);
      for (const proxy of proxied) {
        const transport = createTransport(clusterAt(impostor.port, { proxy }));
        const code = await ways[way]!(transport).then(
          () => "answered",
          (error: { code?: string }) => error.code,
        );
        expect(code).toMatch(/CERT|VERIFY|SIGNED|CA|PURPOSE|EPROTO|INVALID/);
        await transport.close();
      }
      expect(impostor.heard()).toBe(0);
    }
  });
});

test.each(allButExec)("a server's certificate with nothing wrong is taken by a %s", async (way) => {
  const { port, heard } = await startImpostor(rightCertificate, ["http/1.1"]);
  const transport = createTransport(clusterAt(port));
  await ways[way]!(transport);
  expect(heard()).toBeGreaterThan(0);
  await transport.close();
});

test("a refused certificate is told: what is wrong with it, whose it is, and what helps", async () => {
  const reasonOf = async (certificate: Certificate): Promise<string> => {
    const { port } = await startImpostor(certificate, ["h2"]);
    const transport = createTransport(clusterAt(port));
    const error = await ways["request"]!(transport).catch((thrown: unknown) => thrown);
    await transport.close();
    return (error as Error).message.replace(/^Cannot reach https:\S+: /, "");
  };
  const unknown = await reasonOf(wrongCertificates["another authority of the same name"]!);
  expect(unknown).toStartWith("x509: certificate signed by unknown authority: its certificate is not signed by");
  expect(unknown).toContain("certificate-authority-data");
  const expired = await reasonOf(wrongCertificates["an end in the past"]!);
  const elsewhere = await reasonOf(wrongCertificates["another address"]!);
  expect(elsewhere).toStartWith("x509: certificate is not valid for this name");
  expect(elsewhere).toContain("set tls-server-name in the kubeconfig");
  // Deno tells no certificate, and of no reason but the name.
  if (runtimeName.startsWith("Deno")) return;
  expect(unknown).toContain('it is of "CN=server", issued by "CN=loopback"');
  expect(expired).toStartWith(
    "x509: certificate has expired or is not yet valid: its certificate has expired (it is valid from",
  );
  expect(elsewhere).toEndWith(', to one of "IP Address:127.0.0.2"');
});

/** What happens to a request to a server with a certificate, for a client that trusts a bundle. */
async function outcome(certificate: Certificate, ca: string, way: string): Promise<string> {
  const impostor = await startImpostor(certificate, ["http/1.1"]);
  const transport = createTransport(clusterAt(impostor.port, { tls: { ...bare, ca } }));
  const code = await ways[way]!(transport).then(
    () => "accepted",
    (error: { readonly code?: string | number }) => (impostor.heard() > 0 ? "accepted" : String(error.code)),
  );
  await transport.close();
  return code;
}

describe("each certificate of a bundle is an anchor, as in Go", () => {
  const root = createAuthority("root");
  const between = createAuthority("between", { issuer: root });
  const leaf = issue(between, { subject: { name: "server" }, hosts: ["127.0.0.1"] });
  const another = createAuthority("root");
  const sibling = issue(between, { subject: { name: "sibling" }, hosts: ["127.0.0.1"] });
  const below = issue(leaf, { subject: { name: "below" }, hosts: ["127.0.0.1"] });
  const anchors = { root, between, leaf, another, sibling };

  test.each(Object.keys(ways))("for a %s", async (way) => {
    for (const chain of [[leaf], [leaf, between]]) {
      for (let subset = 1; subset < 2 ** 5; subset++) {
        const names = Object.keys(anchors).filter((_, bit) => (subset & (1 << bit)) !== 0);
        const bundle = names.map((name) => anchors[name as keyof typeof anchors].cert).join("");
        // Deno compares no certificate with those of the bundle, so that only an authority's is of use there.
        const isItself = names.includes("leaf") && !runtimeName.startsWith("Deno");
        const isTrusted = isItself || names.includes("between") || (names.includes("root") && chain.length > 1);
        const shown = { cert: chain.map(({ cert }) => cert).join(""), key: leaf.key };
        const code = await outcome(shown, bundle, way);
        expect([names, chain.length, code === "accepted"]).toEqual([names, chain.length, isTrusted]);
      }
    }
  });

  test("but one that is no authority's stands for itself alone", async () => {
    // Deno would take it: an anchor may sign there, whatever its certificate says.
    if (runtimeName.startsWith("Deno")) return;
    const shown = { cert: below.cert + leaf.cert, key: below.key };
    for (const way of Object.keys(ways)) expect(await outcome(shown, leaf.cert, way)).toMatch(/UNABLE|CERT|INVALID/);
  });

  test("and name, dates and usage of a certificate in the bundle are still checked", async () => {
    const signatures = /authority|signature/;
    for (const [fault, certificate] of Object.entries(wrongCertificates)) {
      if (signatures.test(fault)) continue;
      const bundle = loopbackTls.ca + certificate.cert;
      for (const way of Object.keys(ways)) {
        expect([fault, way, await outcome(certificate, bundle, way)]).toEqual([
          fault,
          way,
          expect.not.stringContaining("accepted"),
        ]);
      }
    }
  });
});

describe.each(["h2", "http/1.1"] as const)("a redirect over %s is not followed", (protocol) => {
  test.each(allButExec)("by a %s", async (way) => {
    await using elsewhere = await startLoopback((_, reply) => void reply.end("{}"), { protocol });
    for (const status of [301, 302, 303, 307, 308]) {
      await using server = await startLoopback(
        (_, reply) => void reply.writeHead(status, { location: `${elsewhere.config.server}/stolen` }).end(),
        { protocol },
      );
      const transport = createTransport({ ...server.config, headers: () => ({ authorization: "Bearer secret" }) });
      const error = await ways[way]!(transport).catch((thrown: unknown) => thrown);
      expect((error as { code?: unknown }).code).toBe(status);
      await transport.close();
    }
    expect(elsewhere.requests).toEqual([]);
  });
});

test("a redirect is not followed by exec", async () => {
  await using elsewhere = await startHostile("http/1.1", (peer) => peer.write(okHead()));
  for (const status of [301, 302, 303, 307, 308]) {
    const head = `HTTP/1.1 ${status} Go\r\nlocation: ${elsewhere.url}/stolen\r\ncontent-length: 0\r\n\r\n`;
    await using server = await startHostile("http/1.1", (peer) => peer.write(head));
    const transport = createTransport(clusterAt(Number(new URL(server.url).port)));
    const error = await ways["exec"]!(transport).catch((thrown: unknown) => thrown);
    expect((error as { code?: unknown }).code).toBe(status);
    await transport.close();
  }
  expect(elsewhere.peers).toEqual([]);
});
