import { expect, test } from "bun:test";
import { Hono } from "hono";
import { defineController, definePlugin } from "../module/define.ts";
import type { LoadedModule } from "../module/loaded-module.ts";
import { definitionsOf } from "../module/module-definitions.ts";
import { createLog } from "../observe/log.ts";
import { type Clock, systemClock } from "../platform/clock.ts";
import { ConfigMap } from "../resource/builtin/index.ts";
import { FakeClock } from "../testing/fake-clock.ts";
import { z } from "zod";
import { defineResource } from "../resource/define.ts";
import { Manager } from "./manager.ts";

/** Returns a port on which nobody listens. */
function closedPort(): number {
  const server = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response() });
  const port = server.port!;
  void server.stop(true);
  return port;
}

function setUp({
  port = closedPort(),
  installCrds = false,
  clock = systemClock,
  shutdownDelay = 0,
}: { port?: number; installCrds?: boolean; clock?: Clock; shutdownDelay?: number } = {}) {
  const lines: string[] = [];
  const tls = { ca: undefined, cert: undefined, key: undefined, serverName: undefined, rejectUnauthorized: true };
  const manager = new Manager({
    cluster: {
      server: `http://127.0.0.1:${port}`,
      context: "test",
      user: "test",
      namespace: "default",
      tls,
      headers: () => ({}),
      reload: () => Promise.resolve(false),
    },
    log: createLog({ level: "debug", format: "json", write: (line) => lines.push(line) }),
    settings: {
      "health-probe-bind-address": "127.0.0.1:0",
      "metrics-bind-address": "127.0.0.1:0",
      "grace-period": 100,
      "install-crds": installCrds,
      "shutdown-delay-duration": shutdownDelay,
    },
    version: "1.2.3",
    clock,
    connectionClock: systemClock,
  });
  const get = async (path: string, listener: "health-probe" | "metrics" = "health-probe") => {
    const response = await fetch(`http://${manager.address(listener)}${path}`);
    return { status: response.status, text: await response.text() };
  };
  return { manager, get, lines };
}

const module: LoadedModule = {
  name: "a.ts",
  file: "a.ts",
  definitions: definitionsOf({ default: defineController({ for: ConfigMap, async reconcile() {} }) }),
  invoke: (fn) => fn(),
  dispose() {},
};

test("Manager answers probes while the server is out of reach, says so, and stops in order", async () => {
  const { manager, get, lines } = setUp();
  await manager.start();
  expect((await get("/livez")).status).toBe(200);
  expect(await get("/readyz/controllers")).toMatchObject({
    status: 500,
    text: "internal server error: modules are being loaded\n",
  });
  await manager.add(module);
  manager.loaded();
  const deadline = Date.now() + 5000;
  while (!lines.some((line) => line.includes("Cannot reach the API server"))) {
    if (Date.now() > deadline) throw new Error(lines.join(""));
    await Bun.sleep(5);
  }
  expect((await get("/readyz")).status).toBe(500);
  expect((await get("/readyz?verbose")).text).toContain("[ ]module/a.ts ");
  expect((await get("/metrics", "metrics")).text).toContain('binnacle_module_errors_total{module="a.ts"} 0');
  expect((await get("/plugins/none/x")).status).toBe(404);
  const health = manager.address("health-probe")!;
  await manager.stop();
  await expect(fetch(`http://${health}/livez`)).rejects.toThrow();
  const stops = lines.map((line) => /Stopping (\w+)/.exec(line)?.[1]).filter((step) => step !== undefined);
  expect(stops).toEqual([
    "readiness",
    "delay",
    "sources",
    "runs",
    "webhooks",
    "modules",
    "events",
    "election",
    "informers",
    "connections",
    "listeners",
    "isolation",
  ]);
});

test("Manager goes on during the shutdown delay, and is not ready", async () => {
  await using api = serving(() => 404);
  const clock = new FakeClock();
  const { manager, get } = setUp({ port: api.server.port!, clock, shutdownDelay: 5_000 });
  await manager.start();
  const ended: string[] = [];
  const plugin = definePlugin({
    name: "shop",
    setup(registry) {
      registry.route(new Hono().get("/open", (context) => context.text("yes")));
      registry.run(
        ({ signal }) => new Promise((end) => signal.addEventListener("abort", () => end(void ended.push("ended")))),
      );
    },
  });
  await manager.add({ ...module, definitions: definitionsOf({ plugin }) });
  manager.loaded();
  expect((await get("/readyz")).status).toBe(200);
  const stopped = manager.stop();
  await clock.advanceInTurns(4_999);
  expect(await get("/readyz/controllers")).toMatchObject({ status: 500, text: expect.stringContaining("stopping") });
  expect((await get("/livez")).status).toBe(200);
  expect((await get("/plugins/shop/open")).text).toBe("yes");
  expect(ended).toEqual([]);
  await clock.advanceInTurns(1);
  await stopped;
  expect(ended).toEqual(["ended"]);
});

test.each(["health-probe", "metrics"] as const)("MGR-11 Manager names the flag of a port in use: %p", async (name) => {
  using server = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response() });
  const address = `127.0.0.1:${server.port}`;
  const taken = new Manager({
    cluster: {
      server: "http://127.0.0.1:1",
      context: "",
      user: "",
      namespace: "",
      tls: {} as never,
      headers: () => ({}),
      reload: async () => false,
    },
    log: createLog({ level: "error", format: "json", write: () => {} }),
    settings: {
      "health-probe-bind-address": name === "health-probe" ? address : "0",
      "metrics-bind-address": name === "metrics" ? address : "0",
    },
  });
  await expect(taken.start()).rejects.toThrow(`Cannot listen on ${address} (--${name}-bind-address)`);
  await taken.stop();
});

test("Manager waits for a server that is away before it installs a module's CustomResourceDefinition", async () => {
  const port = closedPort();
  const { manager } = setUp({ port, installCrds: true });
  const Thing = defineResource({ group: "acme.io", version: "v1", kind: "Thing", spec: z.object({}) });
  const added = manager.add({ ...module, definitions: definitionsOf({ Thing }) });
  let settled = false;
  void added.finally(() => (settled = true)).catch(() => {});
  await Bun.sleep(200);
  expect(settled).toBe(false);
  const requests: string[] = [];
  const agents = new Set<string>();
  const established = { metadata: { name: "x" }, status: { conditions: [{ type: "Established", status: "True" }] } };
  await using server = Bun.serve({
    port,
    hostname: "127.0.0.1",
    fetch: ({ method, url, headers }) => {
      agents.add(headers.get("user-agent") ?? "");
      if (url.includes("/customresourcedefinitions/")) requests.push(method);
      return method === "PATCH" ? Response.json(established) : Response.json({ code: 404 }, { status: 404 });
    },
  });
  await added;
  expect(requests).toEqual(["GET", "PATCH"]);
  expect([...agents]).toEqual([`binnacle/1.2.3 (${process.platform}/${process.arch})`]);
  await manager.stop();
  await server.stop(true);
}, 180_000);

/** A server that responds to requests for definitions as it is told, and lists nothing. */
function serving(answer: (method: string) => number) {
  const requests: string[] = [];
  const established = { metadata: { name: "x" }, status: { conditions: [{ type: "Established", status: "True" }] } };
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: ({ method, url }) => {
      if (!url.includes("/customresourcedefinitions/")) return Response.json({ code: 404 }, { status: 404 });
      requests.push(method);
      const status = answer(method);
      const body = status === 200 ? established : { kind: "Status", code: status, message: "not you" };
      return Response.json(body, { status });
    },
  });
  return { server, requests, [Symbol.asyncDispose]: () => server.stop(true) };
}

const Thing = defineResource({ group: "acme.io", version: "v1", kind: "Thing", spec: z.object({}) });
const things: LoadedModule = { ...module, definitions: definitionsOf({ Thing }) };

for (const code of [401, 403, 500]) {
  test(`Manager tries again after ${code} to install a module's kinds, and is not ready meanwhile`, async () => {
    let isAllowed = false;
    const clock = new FakeClock();
    const times: number[] = [];
    await using api = serving((method) => {
      times.push(clock.now());
      if (!isAllowed) return code;
      return method === "GET" ? 404 : 200;
    });
    const { manager, get, lines } = setUp({ port: api.server.port!, installCrds: true, clock });
    await manager.start();
    await manager.add(things);
    manager.loaded();
    expect(await get("/readyz/controllers")).toMatchObject({ status: 500, text: expect.stringContaining("not you") });
    const verbose = (await get("/readyz?verbose")).text;
    expect(verbose).toContain("[ ]module/a.ts unavailable: Cannot install the CustomResourceDefinitions of a.ts: ");
    const told = lines.filter((line) => line.includes("Cannot start a module yet"));
    expect(told).toHaveLength(1);
    const deadline = performance.now() + 20_000;
    while (times.length < 7 && performance.now() < deadline) await clock.advanceInTurns(100);
    const pauses = times.slice(1).map((time, index) => time - times[index]!);
    expect(pauses.length).toBeGreaterThanOrEqual(6);
    pauses.forEach((pause, index) => expect(pause).toBeGreaterThanOrEqual(Math.min(500 * 2 ** index, 15_000)));
    isAllowed = true;
    while ((await get("/readyz")).status !== 200) {
      if (performance.now() > deadline) throw new Error(lines.join(""));
      await clock.advanceInTurns(1_000);
    }
    expect((await get("/readyz?verbose")).text).toContain("[+]module/a.ts ok");
    await manager.stop();
  });
}

test("Manager gives up a module that waits to install its kinds when it leaves", async () => {
  await using api = serving(() => 403);
  const clock = new FakeClock();
  const { manager, get } = setUp({ port: api.server.port!, installCrds: true, clock });
  await manager.start();
  const disposed: string[] = [];
  await manager.add({ ...things, dispose: () => void disposed.push("first") });
  await manager.add({ ...things, dispose: () => void disposed.push("second") });
  expect(disposed).toEqual(["first"]);
  await manager.modules.remove("a.ts");
  expect(disposed).toEqual(["first", "second"]);
  manager.loaded();
  expect((await get("/readyz?verbose")).text).not.toContain("a.ts");
  const before = api.requests.length;
  for (let seconds = 0; seconds < 60; seconds++) await clock.advanceInTurns(1_000);
  expect(api.requests.length).toBe(before);
  await manager.stop();
});

test("Manager is not ready when the only module is broken, nor when another one runs beside it", async () => {
  await using api = serving(() => 404);
  const { manager, get } = setUp({ port: api.server.port! });
  await manager.start();
  manager.modules.markBroken("b.ts", { file: "b.ts", message: "Unexpected }" });
  manager.loaded();
  expect(await get("/readyz/controllers")).toMatchObject({
    status: 500,
    text: "internal server error: no module runs: b.ts is broken: Unexpected }\n",
  });
  await manager.add(things);
  expect(await get("/readyz/controllers")).toMatchObject({
    status: 500,
    text: "internal server error: module b.ts has never run: Unexpected }\n",
  });
  await manager.stop();
});
