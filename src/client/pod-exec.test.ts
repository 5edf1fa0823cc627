import { afterEach, expect, test } from "bun:test";
import type { Server, ServerWebSocket } from "bun";
import { loopbackAuthority, loopbackTls } from "../../tests/support/loopback-server.ts";
import { issue } from "binnacle-apiserver";
import { InformerRegistry } from "../cache/informer-registry.ts";
import { isForbidden } from "../kube/errors/api-error.ts";
import { RestMapper } from "../kube/api/mapper.ts";
import { createTransport } from "../kube/transport/transport.ts";
import { createLog } from "../observe/log.ts";
import { systemClock } from "../platform/clock.ts";
import type { ExecOptions, Execution } from "./client.ts";
import { KubeClient, clientCore } from "./kube-client.ts";
import { Permissions } from "./permissions.ts";
import { openGate, type WriteGate } from "../kube/transport/write-gate.ts";

let cleanup = new AsyncDisposableStack();
afterEach(async () => {
  await cleanup.disposeAsync();
  cleanup = new AsyncDisposableStack();
});

const certificate = issue(loopbackAuthority, { subject: { name: "server" }, hosts: ["127.0.0.1"] });
const bytes = (channel: number, text: string) => Buffer.concat([Buffer.of(channel), Buffer.from(text)]);
const success = bytes(3, '{"status":"Success"}');

interface Asked {
  readonly path: string;
  readonly query: URLSearchParams;
  readonly protocols: string;
}

interface Behaviour {
  /** What the server speaks. @default "v5.channel.k8s.io" */
  readonly protocol?: string;
  onOpen?(socket: ServerWebSocket<unknown>): void;
  onMessage?(socket: ServerWebSocket<unknown>, channel: number, text: string): void;
  onClose?(): void;
}

/** A server of the protocol, and a client to it. */
function setUp(behaviour: Behaviour, gate: WriteGate = openGate) {
  const asked: Asked[] = [];
  const { protocol = "v5.channel.k8s.io" } = behaviour;
  const server: Server<unknown> = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    tls: { cert: certificate.cert, key: certificate.key },
    fetch(request, self) {
      const { pathname, searchParams } = new URL(request.url);
      if (pathname.includes("secret")) {
        const status = { kind: "Status", code: 403, reason: "Forbidden", message: 'User "jane" cannot create it' };
        return Response.json(status, { status: 403 });
      }
      asked.push({
        path: pathname,
        query: searchParams,
        protocols: request.headers.get("sec-websocket-protocol") ?? "",
      });
      const headers = { "sec-websocket-protocol": protocol };
      return self.upgrade(request, { headers, data: {} }) ? undefined : new Response("no", { status: 400 });
    },
    websocket: {
      open: (socket) => behaviour.onOpen?.(socket),
      message: (socket, message) => {
        const data = message as Buffer;
        behaviour.onMessage?.(socket, data[0]!, data.toString("utf8", 1));
      },
      close: () => behaviour.onClose?.(),
    },
  });
  cleanup.defer(() => server.stop(true));
  const base = { context: "loopback", user: "jane", namespace: "default", tls: loopbackTls };
  const transport = createTransport({
    ...base,
    server: `https://127.0.0.1:${server.port}`,
    headers: () => ({}),
    reload: async () => false,
  });
  cleanup.defer(() => transport.close());
  const mapper = new RestMapper(transport);
  const log = createLog({ level: "error", format: "json", write: () => {} });
  const informers = new InformerRegistry({ transport, mapper, log, clock: systemClock });
  const permissions = new Permissions();
  const scope = {
    transport,
    mapper,
    informers,
    manager: "m",
    declared: new Map(),
    permissions,
    onUndeclared: undefined,
  };
  const client = new KubeClient(clientCore(scope), { gate, requestSignal: undefined, origin: "" });
  const exec = (command: readonly string[], options?: ExecOptions, name = "web"): Execution =>
    client.exec({ namespace: "default", name }, command, options);
  return { exec, asked, transport };
}

const all = async ({ stdout, stderr, exitCode }: Execution) => [
  await stdout.text(),
  await stderr.text(),
  await exitCode.catch(String),
];

test("exec gives what the command writes and how it ended", async () => {
  const { exec, asked } = setUp({
    onOpen(socket) {
      const umlaut = bytes(1, "ö");
      socket.send(bytes(1, "")); // some servers begin with nothing
      socket.send(umlaut.subarray(0, 2));
      socket.send(Buffer.of(1, umlaut[2]!)); // in the middle of a letter
      socket.send(bytes(2, "oh"));
      socket.send(bytes(1, "x".repeat(70_000)));
      socket.send(
        bytes(
          3,
          '{"status":"Failure","reason":"NonZeroExitCode","details":{"causes":[{"reason":"ExitCode","message":"3"}]}}',
        ),
      );
      socket.close();
    },
  });
  expect(await all(exec(["ls", "-l", "a b"], { container: "c" }))).toEqual([`ö${"x".repeat(70_000)}`, "oh", 3]);
  expect(asked[0]!.path).toBe("/api/v1/namespaces/default/pods/web/exec");
  expect(asked[0]!.query.toString()).toBe("stdout=true&stderr=true&container=c&command=ls&command=-l&command=a+b");
  expect(asked[0]!.protocols).toBe("v5.channel.k8s.io, v4.channel.k8s.io");
});

test("exec feeds a command what it reads, and says when that is all", async () => {
  let read = "";
  const { exec, asked } = setUp({
    onMessage(socket, channel, text) {
      if (channel === 0) read += text;
      if (channel !== 255) return;
      socket.send(bytes(1, `${text.charCodeAt(0)} ${read}`));
      socket.send(success);
      socket.close();
    },
  });
  async function* lines() {
    yield "a\n";
    yield new TextEncoder().encode("b\n");
  }
  expect(await all(exec(["cat"], { stdin: lines() }))).toEqual(["0 a\nb\n", "", 0]);
  expect(asked[0]!.query.get("stdin")).toBe("true");
});

test("exec: a command that ends before it has read everything is no failure", async () => {
  const { exec } = setUp({
    onMessage(socket) {
      socket.send(success);
      socket.close();
    },
  });
  async function* endless() {
    for (;;) {
      yield "y\n";
      await Bun.sleep(1);
    }
  }
  expect(await all(exec(["true"], { stdin: endless() }))).toEqual(["", "", 0]);
});

test("exec says what is wrong: a refusal, a lost connection, a server too old, a command that cannot start", async () => {
  const refused = setUp({}).exec(["ls"], {}, "secret");
  expect(isForbidden(await refused.exitCode.catch((error: unknown) => error))).toBe(true);
  expect(await refused.stdout.text().catch(String)).toContain(
    "Cannot create pods/exec default/secret: Forbidden (403)",
  );

  const lost = setUp({ onOpen: (socket) => socket.terminate() }).exec(["ls"]);
  expect(await lost.exitCode.catch(String)).toContain("the connection was lost");

  const old = setUp({ protocol: "v4.channel.k8s.io" }).exec(["cat"], { stdin: "x" });
  expect(await old.exitCode.catch(String)).toContain(
    "the server speaks v4.channel.k8s.io; Kubernetes 1.30 and later can",
  );

  const failing = setUp({
    onOpen(socket) {
      socket.send(bytes(3, '{"status":"Failure","message":"no such file"}'));
      socket.close();
    },
  }).exec(["nothing"]);
  expect(await failing.exitCode.catch(String)).toContain("Cannot run the command in pod default/web: no such file");
});

test("exec sends a command nothing more once writes are refused", async () => {
  const gate = { refused: undefined as string | undefined };
  let read = "";
  const received = Promise.withResolvers<void>();
  const behaviour: Behaviour = {
    onMessage(_, channel, text) {
      if (channel === 0) read += text;
      received.resolve();
    },
  };
  const { exec, asked } = setUp(behaviour, gate);
  async function* lines() {
    yield "one\n";
    await received.promise;
    gate.refused = "leadership was lost";
    yield "two\n";
  }
  const { exitCode } = exec(["cat"], { stdin: lines() });
  expect(await exitCode.catch(String)).toBe("WritesRefused: Cannot write: leadership was lost");
  expect([read, asked.length]).toEqual(["one\n", 1]);

  // The lead may also be lost between the call and the moment when the connection is there.
  gate.refused = undefined;
  const late = exec(["date"]);
  gate.refused = "leadership was lost";
  expect(await late.exitCode.catch(String)).toBe("WritesRefused: Cannot write: leadership was lost");
  expect(asked).toHaveLength(1);
});

test("exec ends when writes are refused while the command runs", async () => {
  const gate = { refused: undefined as string | undefined };
  const opened = Promise.withResolvers<void>();
  const closed = Promise.withResolvers<void>();
  const { exec, transport } = setUp({ onOpen: () => opened.resolve(), onClose: () => closed.resolve() }, gate);
  const { exitCode } = exec(["sleep", "1h"]);
  exitCode.catch(() => {});
  await opened.promise;
  transport.endRefused();
  gate.refused = "leadership was lost";
  transport.endRefused();
  expect(await exitCode.catch(String)).toBe("WritesRefused: Cannot write: leadership was lost");
  await closed.promise;
});

test("exec ends with its signal", async () => {
  const closed = Promise.withResolvers<void>();
  const stop = new AbortController();
  const { exec } = setUp({
    onOpen: () => stop.abort(new Error("enough")),
    onClose: () => closed.resolve(),
  });
  expect(await exec(["sleep", "1h"], { signal: stop.signal }).exitCode.catch(String)).toContain("enough");
  await closed.promise;
});

test("exec ends a command whose output nobody reads, before it fills the memory", async () => {
  const chunk = Buffer.concat([Buffer.of(1), Buffer.alloc(1024 * 1024, 0x61)]);
  let sent = 0;
  const closed = Promise.withResolvers<void>();
  const { exec } = setUp({
    onOpen(socket) {
      const more = (): void => {
        if (sent >= 200 || socket.readyState !== WebSocket.OPEN) return;
        sent++;
        socket.send(chunk);
        setTimeout(more, 1);
      };
      more();
    },
    onClose: closed.resolve,
  });
  const { exitCode, stdout } = exec(["yes"]);
  await expect(exitCode).rejects.toThrow(
    "Cannot run the command in pod default/web to its end: nobody reads its output, and 64 MiB of it wait",
  );
  await closed.promise;
  expect(sent).toBeLessThan(200);
  await expect(stdout.text()).rejects.toThrow("nobody reads its output");
});
