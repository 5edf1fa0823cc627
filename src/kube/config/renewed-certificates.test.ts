/** Certificates whose files are replaced while connections are open. */
import { afterAll, expect, test } from "bun:test";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { stringify } from "yaml";
import type { AddressInfo } from "node:net";
import tls, { type TLSSocket } from "node:tls";
import {
  loopbackAuthority,
  loopbackServerTls,
  loopbackTls,
  sendJson,
  startLoopback,
} from "../../../tests/support/loopback-server.ts";
import { createAuthority, issue, type Certificate } from "binnacle-apiserver";
import type { ClusterConfig } from "./cluster-config.ts";
import { loadKubeconfig } from "./kubeconfig.ts";
import { createTransport } from "../transport/transport.ts";

const dir = await mkdtemp(join(tmpdir(), "renewed-"));
afterAll(() => rm(dir, { recursive: true }));

async function put({ cert, key }: Certificate): Promise<void> {
  await writeFile(join(dir, "client.crt"), cert);
  await writeFile(join(dir, "client.key"), key);
}

async function clusterOf(server: string) {
  const kubeconfig = join(dir, "config");
  const content = {
    "current-context": "c",
    clusters: [{ name: "k", cluster: { server, "certificate-authority": "ca.crt" } }],
    users: [{ name: "u", user: { "client-certificate": "client.crt", "client-key": "client.key" } }],
    contexts: [{ name: "c", context: { cluster: "k", user: "u" } }],
  };
  await writeFile(kubeconfig, stringify(content));
  return loadKubeconfig({ kubeconfig, env: {} });
}

const named = (name: string): Certificate => issue(loopbackAuthority, { subject: { name } });

for (const protocol of ["h2", "http/1.1"] as const) {
  test.each(["request", "list", "lease"] as const)(
    `a client certificate that was replaced counts at the next connection of a %s over ${protocol}`,
    async (traffic) => {
      await writeFile(join(dir, "ca.crt"), loopbackTls.ca!);
      const [first, second] = [named("first"), named("second")];
      await put(first);
      await using server = await startUserServer(protocol);
      const transport = createTransport(await clusterOf(server.url));
      const asked = async (): Promise<string> =>
        (await transport.request<{ user: string }>({ method: "GET", path: "/x", traffic })).user;
      expect(await asked()).toBe("first");
      // Half of a replacement is not used.
      await writeFile(join(dir, "client.crt"), second.cert);
      server.cut();
      expect(await asked()).toBe("first");
      await writeFile(join(dir, "client.key"), second.key);
      server.cut();
      expect(await asked()).toBe("second");
      await transport.close();
    },
  );
}

test("an authority that was replaced counts at the next connection, and a file that is no authority does not", async () => {
  await writeFile(join(dir, "ca.crt"), loopbackTls.ca!);
  await put(named("jane"));
  await using server = await startLoopback((_, reply) => sendJson(reply, {}));
  const cluster = await clusterOf(server.config.server);
  const transport = createTransport(withoutReload(cluster));
  const asked = (): Promise<unknown> =>
    transport.request({ method: "GET", path: "/x" }).then(
      () => "answered",
      (error: { code?: string }) => error.code,
    );
  expect(await asked()).toBe("answered");
  await writeFile(join(dir, "ca.crt"), "");
  server.cut();
  expect(await asked()).toBe("answered");
  await writeFile(join(dir, "ca.crt"), createAuthority("another").cert);
  server.cut();
  expect(String(await asked())).toMatch(/CERT|VERIFY|SIGNED/);
  await writeFile(join(dir, "ca.crt"), loopbackTls.ca!);
  expect(await asked()).toBe("answered");
  await transport.close();
});

/** The same cluster, which reads nothing again when the server refuses it. */
function withoutReload(cluster: ClusterConfig): ClusterConfig {
  const { server, context, user, namespace } = cluster;
  return {
    server,
    context,
    user,
    namespace,
    get tls() {
      return cluster.tls;
    },
    headers: () => cluster.headers(),
    renew: () => cluster.renew?.(),
    reload: async () => false,
  };
}

/** Answers `{ "user": … }` with the CN of the client's certificate, which Bun's `https` server does not tell. */
async function startUserServer(protocol: "h2" | "http/1.1"): Promise<AsyncDisposable & { url: string; cut(): void }> {
  const settings = { ...loopbackServerTls, ca: loopbackTls.ca!, requestCert: true, rejectUnauthorized: false };
  if (protocol === "h2") {
    const server = await startLoopback(({ user }, reply) => sendJson(reply, { user }));
    return {
      url: server.config.server,
      cut: () => server.cut(),
      [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
    };
  }
  const sockets = new Set<TLSSocket>();
  const server = tls.createServer(settings, (socket) => {
    sockets.add(socket.on("error", () => {}));
    const body = JSON.stringify({ user: socket.getPeerCertificate().subject.CN });
    const head = `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n`;
    socket.on("data", () => socket.write(head + body));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const cut = (): void => sockets.forEach((socket) => void socket.destroy());
  const dispose = async (): Promise<void> => {
    server.close();
    cut();
  };
  return { url: `https://127.0.0.1:${(server.address() as AddressInfo).port}`, cut, [Symbol.asyncDispose]: dispose };
}
