/** Tests an API server that stops answering, in each of the ways in which servers do, and comes back. */
import { expect, test } from "bun:test";
import {
  type Handler,
  type LoopbackServer,
  sendJson,
  sendStatus,
  startLoopback,
} from "../../tests/support/loopback-server.ts";
import { until } from "../../tests/support/until.ts";
import { createTransport, type Transport } from "../kube/transport/transport.ts";
import { createMetrics } from "../observe/metrics.ts";
import { healthApp } from "../server/health-app.ts";
import { HealthChecks } from "../server/health-checks.ts";
import { FakeClock } from "../testing/fake-clock.ts";
import { watchServer } from "./server-silence.ts";

interface Observed {
  readonly clock: FakeClock;
  readonly transport: Transport;
  readonly get: (path: string, peer?: string) => Promise<readonly [number, string]>;
  readonly silentSeconds: () => Promise<number>;
}

function observe(server: LoopbackServer, cleanup: AsyncDisposableStack): Observed {
  const clock = new FakeClock(Date.UTC(2026, 0, 1, 12));
  const transport = createTransport(server.config, { clock });
  cleanup.defer(() => transport.close());
  const health = { healthz: new HealthChecks(), livez: new HealthChecks(), readyz: new HealthChecks() };
  const metrics = createMetrics();
  watchServer({ connection: transport, connectionClock: clock, health, metrics });
  const app = healthApp(health);
  return {
    clock,
    transport,
    async get(path, peer = "127.0.0.1") {
      const response = await app.request(path, { headers: { host: "localhost:8081" } }, { peer });
      return [response.status, await response.text()];
    },
    async silentSeconds() {
      const { body } = await metrics.text();
      return Number(/^binnacle_api_server_silent_seconds (\S+)$/m.exec(body)?.[1]);
    },
  };
}

const alive: Handler = (_request, reply) => sendJson(reply, {});

/** How a server stops answering; `gone` closes its port, too. */
const WAYS: readonly {
  readonly way: string;
  readonly handler?: Handler;
  readonly gone?: true;
  readonly why: RegExp;
}[] = [
  { way: "hangs", handler() {}, why: /no answer to GET \/readyz within 3 s/ },
  {
    way: "closes each connection",
    handler: (request) => void request.socket.destroy(),
    why: /the connection was lost/,
  },
  { way: "is gone, so that connections are refused", gone: true, why: /the connection was refused/ },
  {
    way: "has a proxy before it, which answers 503",
    handler: (_request, reply) => sendStatus(reply, 503),
    why: /GET \/readyz is answered with HTTP 503/,
  },
];

test.each(WAYS.flatMap((way) => (["h2", "plain"] as const).map((protocol) => [way.way, protocol, way] as const)))(
  "a server that %s (%s) makes the process not ready after a minute, and ready again when it is back",
  async (_name, protocol, { handler, gone, why }) => {
    await using cleanup = new AsyncDisposableStack();
    const server = cleanup.use(await startLoopback(alive, { protocol }));
    const { clock, transport, get, silentSeconds } = observe(server, cleanup);
    await transport.request({ method: "GET", path: "/api/v1/pods" });
    expect(await get("/readyz?verbose")).toEqual([200, "[+]api-server ok\nreadyz check passed\n"]);
    expect(await silentSeconds()).toBe(0);

    if (gone === true) await server[Symbol.asyncDispose]();
    else server.handler = handler!;
    // Nothing but the question itself makes the process notice: it has no watch and sends no request.
    await until(
      async () => {
        await get("/readyz");
        await clock.advanceInTurns(5_000);
        return transport.reachability.outage !== undefined;
      },
      { what: "the outage is noticed" },
    );
    expect((await get("/readyz"))[0]).toBe(200);
    const { since } = transport.reachability.outage!;
    while (clock.now() <= since + 60_000) await clock.advanceInTurns(1_000);
    // Time may have overtaken an answer that was on its way, so that a probe was late instead.
    const reason = () => String(transport.reachability.outage?.error);
    await until(() => clock.advanceInTurns(1_000).then(() => why.test(reason())), { what: reason });
    const [status, text] = await get("/readyz");
    expect(status).toBe(500);
    expect(text).toMatch(
      /^\[-\]api-server failed: the API server does not answer since 2026-01-01T12:00:\d\dZ \(\d+ s\)/,
    );
    expect(text).toMatch(why);
    expect(await get("/readyz/api-server", "10.0.0.7")).toEqual([
      500,
      "internal server error: the API server does not answer\n",
    ]);
    expect((await get("/readyz?exclude=api-server"))[0]).toBe(200);
    expect(await get("/livez")).toEqual([200, "ok"]);
    expect(await get("/healthz")).toEqual([200, "ok"]);
    expect(await silentSeconds()).toBeGreaterThan(60);

    if (gone === true)
      cleanup.use(await startLoopback(alive, { protocol, port: Number(new URL(server.config.server).port) }));
    else server.handler = alive;
    await until(
      async () => {
        await clock.advanceInTurns(1_000);
        return (await get("/readyz"))[0] === 200;
      },
      { what: "the process is ready again" },
    );
    expect(await silentSeconds()).toBe(0);
  },
);

test("a question asks the server nothing while answers or a pinged connection show that it is alive", async () => {
  await using cleanup = new AsyncDisposableStack();
  const server = cleanup.use(
    await startLoopback((request, reply) => {
      if (request.path === "/apis/metrics.k8s.io/v1beta1/nodes") return sendStatus(reply, 503);
      if (request.path !== "/watch") return sendJson(reply, {});
      reply.writeHead(200);
      reply.write("{}\n");
    }),
  );
  const { clock, transport, get } = observe(server, cleanup);
  const probes = () => server.lines.filter((line) => line === "GET /readyz").length;
  const ask = async () => {
    const due = clock.now() + 10_000;
    // The server needs real time to answer the pings.
    await until(() => clock.advanceInTurns(1_000).then(() => clock.now() >= due), { what: "10 s", every: 5 });
    await get("/readyz");
  };
  await transport.request({ method: "GET", path: "/api/v1/pods" });
  await ask();
  expect(probes()).toBe(0);
  const opened = Promise.withResolvers<void>();
  const ended = transport.stream({ method: "GET", path: "/watch", onHeaders: opened.resolve, onChunk() {} });
  ended.catch(() => {});
  await opened.promise;
  await ask();
  expect(probes()).toBe(0);
  // One service of the server that is broken leads to one probe, and to no new connections.
  for (let i = 0; i < 3; i++)
    await transport.request({ method: "GET", path: "/apis/metrics.k8s.io/v1beta1/nodes" }).catch(() => {});
  const ports = () =>
    new Set(server.requests.filter(({ path }) => path !== "/readyz").map(({ socket }) => socket.remotePort));
  const before = ports();
  await ask();
  await transport.reachability.wait(new AbortController().signal);
  expect([probes(), transport.reachability.outage]).toEqual([1, undefined]);
  await transport.request({ method: "GET", path: "/api/v1/pods" });
  expect(ports()).toEqual(before);
});
