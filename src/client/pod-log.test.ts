import { afterEach, expect, test } from "bun:test";
import { once } from "node:events";
import { type LoopbackOptions, type Reply, startLoopback } from "../../tests/support/loopback-server.ts";
import { InformerRegistry } from "../cache/informer-registry.ts";
import { RestMapper } from "../kube/api/mapper.ts";
import type { ClusterConfig } from "../kube/config/cluster-config.ts";
import { createTransport } from "../kube/transport/transport.ts";
import { createLog } from "../observe/log.ts";
import { ConfigMap } from "../resource/builtin/core.ts";
import { clientCore, KubeClient } from "./kube-client.ts";
import { Permissions } from "./permissions.ts";
import { openGate } from "../kube/transport/write-gate.ts";

const MiB = 1024 * 1024;
const LOG = 64 * MiB;
const LINE = `${"x".repeat(1023)}\n`;
const PIECE = LINE.repeat(64);
/** Of what is not read no more than this is under way: the window of the stream, and what sockets and servers hold. */
const MOST = 32 * MiB;

let cleanup = new AsyncDisposableStack();
afterEach(async () => {
  await cleanup.disposeAsync();
  cleanup = new AsyncDisposableStack();
});

function clientOf(config: ClusterConfig): KubeClient {
  const transport = createTransport(config);
  cleanup.defer(() => transport.close());
  const mapper = new RestMapper(transport);
  const log = createLog({ level: "error", format: "json" });
  const core = clientCore({
    transport,
    mapper,
    informers: new InformerRegistry({ transport, mapper, log }),
    manager: "test",
    declared: new Map(),
    permissions: new Permissions(),
    onUndeclared: undefined,
  });
  return new KubeClient(core, { gate: openGate, requestSignal: undefined, origin: "test" });
}

/** What has been sent of the log so far. */
interface Sending {
  sent: number;
}

async function write(reply: Reply, sending: Sending): Promise<void> {
  reply.writeHead(200, { "content-type": "text/plain" });
  const gone = new AbortController();
  reply.on("close", () => gone.abort());
  while (sending.sent < LOG) {
    const isTaken = reply.write(PIECE);
    sending.sent += PIECE.length;
    if (!isTaken) await once(reply, "drain", { signal: gone.signal });
  }
  reply.end();
}

async function over(protocol: NonNullable<LoopbackOptions["protocol"]>, sending: Sending): Promise<ClusterConfig> {
  const server = cleanup.use(
    await startLoopback((_, reply) => write(reply, sending).catch(() => void reply.destroy()), { protocol }),
  );
  return server.config;
}

async function inProcess(sending: Sending): Promise<ClusterConfig> {
  const body = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        if (sending.sent >= LOG) return controller.close();
        sending.sent += PIECE.length;
        controller.enqueue(Buffer.from(PIECE));
      },
    },
    { highWaterMark: 0 },
  );
  return { ...(await over("plain", { sent: 0 })), answer: async () => new Response(body) };
}

test.each([
  ["HTTP/2", (sending: Sending) => over("h2", sending)],
  ["HTTP/1.1", (sending: Sending) => over("http/1.1", sending)],
  ["a server in this process", inProcess],
] as const)(
  "a log that is read slowly makes its server wait, and comes whole: %s",
  async (_, start) => {
    const sending = { sent: 0 };
    const client = clientOf(await start(sending));
    let lines = 0;
    let settled = 0;
    for await (const line of client.logs({ namespace: "default", name: "chatty" })) {
      expect(line.length).toBe(LINE.length - 1);
      if (lines++ > 0) continue;
      do {
        settled = sending.sent;
        await Bun.sleep(200);
      } while (sending.sent !== settled);
    }
    expect(settled).toBeLessThan(MOST);
    expect(lines).toBe(LOG / LINE.length);
  },
  180_000,
);

test("a watch that is read slowly makes its server wait too, and shows every event", async () => {
  const count = 40_000;
  let sent = 0;
  const text = "x".repeat(1_000);
  const event = (version: number): string => {
    const metadata = {
      namespace: "default",
      name: `m-${version}`,
      uid: `u-${version}`,
      resourceVersion: String(version),
    };
    return `${JSON.stringify({ type: "ADDED", object: { apiVersion: "v1", kind: "ConfigMap", metadata, data: { text } } })}\n`;
  };
  const server = cleanup.use(
    await startLoopback(async (_, reply) => {
      reply.writeHead(200, { "content-type": "application/json" });
      const gone = new AbortController();
      reply.on("close", () => gone.abort());
      while (sent < count) {
        const isTaken = reply.write(event(++sent));
        if (!isTaken) await once(reply, "drain", { signal: gone.signal }).catch(() => {});
        if (gone.signal.aborted) return;
      }
    }),
  );
  const client = clientOf(server.config);
  let seen = 0;
  let settled = 0;
  for await (const { object } of client.watch(ConfigMap, { namespace: "default", resourceVersion: "0" })) {
    expect(object.metadata.name).toBe(`m-${++seen}`);
    if (seen === count) break;
    if (seen > 1) continue;
    do {
      settled = sent;
      await Bun.sleep(200);
    } while (sent !== settled);
  }
  expect(settled * event(1).length).toBeLessThan(MOST);
  expect([sent, seen]).toEqual([count, count]);
}, 180_000);

test("a log that nobody reads on ends with its reader", async () => {
  const sending = { sent: 0 };
  const client = clientOf(await over("h2", sending));
  for await (const _ of client.logs({ namespace: "default", name: "chatty" })) break;
  await Bun.sleep(100);
  const { sent } = sending;
  await Bun.sleep(100);
  expect(sending.sent).toBe(sent);
});
