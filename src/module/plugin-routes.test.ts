/** What clients of plugins' routes can make the process do, over a real listener. */
import { afterEach, expect, test } from "bun:test";
import { Hono } from "hono";
import { connect } from "node:net";
import { serve } from "#runtime/http-server";
import { BodyBudget } from "../server/body-budget.ts";
import type { RouteOptions } from "./plugin.ts";
import { PluginRoutes } from "./plugin-routes.ts";

const KIB = 1024;
const MIB = 1024 * KIB;
let cleanup = new AsyncDisposableStack();
afterEach(async () => {
  await cleanup.disposeAsync();
  cleanup = new AsyncDisposableStack();
});

function start(app: Hono, { bytes = MIB, ...options }: RouteOptions & { readonly bytes?: number } = {}) {
  const errors: unknown[] = [];
  const bodies = new BodyBudget({ bytes });
  const routes = new PluginRoutes(app, options, (error) => void errors.push(error));
  const server = serve({
    hostname: "127.0.0.1",
    port: 0,
    reusePort: false,
    fetch: (request, peers) => routes.answer({ request, connection: { peer: peers.addressOf(request) } }, bodies),
  });
  cleanup.defer(() => server.stop(true));
  const send = async (path: string, init: RequestInit = {}) => {
    const response = await fetch(`http://127.0.0.1:${server.port}${path}`, init);
    return [response.status, await response.text()] as const;
  };
  return { send, errors, bodies, port: server.port };
}

const counting = () =>
  new Hono().post("/", async ({ req, text }) => text(String((await req.arrayBuffer()).byteLength)));

/** A body that does not say how long it is. */
const streamed = (bytes: number) =>
  new ReadableStream<Uint8Array>({
    pull(controller) {
      controller.enqueue(new Uint8Array(Math.min(bytes, 16 * KIB)));
      if ((bytes -= 16 * KIB) <= 0) controller.close();
    },
  });

test("bodies of routes are limited, to 1 MiB unless the plugin says otherwise", async () => {
  for (const [most, options] of [
    [MIB, {}],
    [100, { largestBody: 100 }],
  ] as const) {
    const { send, bodies } = start(counting(), options);
    for (const body of [new Uint8Array(most), streamed(most)]) {
      expect(await send("/", { method: "POST", body })).toEqual([200, String(most)]);
    }
    expect((await send("/", { method: "POST", body: new Uint8Array(most + 1) }))[0]).toBe(413);
    expect((await send("/", { method: "POST", body: streamed(most + 64 * KIB) }))[0]).toBe(413);
    expect(bodies.held).toBe(0);
  }
  expect(() => new PluginRoutes(new Hono(), { largestBody: Number.NaN }, () => {})).toThrow("largestBody is NaN");
});

test("bodies of many requests take no more than the budget and one body, and the others get 429", async () => {
  const { port, bodies, send } = start(counting(), { largestBody: 100 * MIB, bytes: 8 * MIB });
  const answers: string[] = [];
  const refused = Promise.withResolvers<void>();
  const sockets = Array.from({ length: 3 }, () => {
    const socket = connect(port, "127.0.0.1");
    cleanup.defer(() => void socket.destroy());
    socket.on("error", () => {});
    socket.once("data", (data: Buffer) => {
      answers.push(data.toString());
      if (answers.length === 2) refused.resolve();
    });
    socket.write(`POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${12 * MIB}\r\n\r\n`);
    socket.write(Buffer.alloc(12 * MIB - 1));
    return socket;
  });
  await refused.promise;
  expect(answers.every((head) => head.startsWith("HTTP/1.1 429 "))).toBe(true);
  expect(bodies.held).toBeLessThanOrEqual(20 * MIB);
  for (const socket of sockets) socket.destroy();
  expect(await send("/", { method: "POST", body: new Uint8Array(12 * MIB) })).toEqual([200, String(12 * MIB)]);
});

test("routes refuse pages of other sites and names of the internet, unless the plugin answers them itself", async () => {
  const page = { method: "POST", headers: { origin: "https://page.example" } };
  const rebound = { headers: { host: "page.example" } };
  const app = new Hono().all("/", (context) => context.text("done"));
  const guarded = start(app);
  expect([(await guarded.send("/", page))[0], (await guarded.send("/", rebound))[0]]).toEqual([403, 421]);
  expect(await guarded.send("/", { method: "POST" })).toEqual([200, "done"]);
  const open = start(app, { crossSite: true });
  expect([(await open.send("/", page))[0], (await open.send("/", rebound))[0]]).toEqual([200, 200]);
});

test("what a route throws reaches the log and not the client, an error or not", async () => {
  const thrown: readonly unknown[] = [new Error("secret"), "secret", null, { secret: 1 }];
  const app = new Hono().get("/:which", ({ req }) => {
    throw thrown[Number(req.param("which"))];
  });
  const { send, errors } = start(app);
  for (let which = 0; which < thrown.length; which++) {
    expect(await send(`/${which}`)).toEqual([500, "500 internal server error\n"]);
  }
  expect(errors).toEqual([...thrown]);
});

test("a client that leaves in the middle of its body is no error of the plugin", async () => {
  const { port, errors, bodies } = start(counting());
  for (const head of ["Content-Length: 60000", "Content-Length: 200000", "Transfer-Encoding: chunked"]) {
    const socket = connect(port, "127.0.0.1");
    socket.write(`POST / HTTP/1.1\r\nHost: localhost\r\n${head}\r\n\r\n1\r\na\r\n`);
    while (bodies.held === 0) await Bun.sleep(1);
    socket.destroy();
    while (bodies.held > 0) await Bun.sleep(1);
  }
  expect(errors).toEqual([]);
});
