/** What clients of the webhook listener can make it hold and log, before anybody knows who they are. */
import { afterEach, expect, test } from "bun:test";
import { connect, type Socket } from "node:net";
import { serve } from "#runtime/http-server";
import { createLog } from "../observe/log.ts";
import { createMetrics } from "../observe/metrics.ts";
import { type Clock, systemClock } from "../platform/clock.ts";
import { runSettings } from "../settings/run-options.ts";
import { FakeClock } from "../testing/fake-clock.ts";
import { ConversionEndpoint, MOST_CONVERSION_BYTES } from "./conversion/conversion-endpoint.ts";
import { ReviewRoutes } from "./review-routes.ts";

const MIB = 2 ** 20;
let cleanup = new AsyncDisposableStack();
afterEach(async () => {
  await cleanup.disposeAsync();
  cleanup = new AsyncDisposableStack();
});

function start(clock: Clock = systemClock) {
  const lines: { readonly msg: string; readonly othersNotLogged?: number }[] = [];
  const log = createLog({ level: "info", format: "json", write: (line) => void lines.push(JSON.parse(line)) });
  const metrics = createMetrics();
  const routes = new ReviewRoutes({ log, metrics, settings: runSettings() }, clock);
  routes.mount(new ConversionEndpoint({ find: () => undefined, metrics: metrics.conversions, log, clock }));
  const app = routes.app();
  const server = serve({
    hostname: "127.0.0.1",
    port: 0,
    reusePort: false,
    largestBody: MOST_CONVERSION_BYTES + MIB,
    fetch: (request) => app.fetch(request),
  });
  cleanup.defer(() => server.stop(true));
  const post = (body: string) =>
    fetch(`http://127.0.0.1:${server.port}/convert`, {
      method: "POST",
      body,
      headers: { "Content-Type": "application/json" },
    });
  return { lines, post, port: server.port };
}

/** Sends all but the last byte of a body, as fast as it is taken. */
function attack(port: number, { bytes, onAnswer }: { bytes: number; onAnswer: (head: string) => void }): Socket {
  const socket = connect(port, "127.0.0.1");
  const piece = Buffer.alloc(MIB, "a");
  let left = bytes - 1;
  const send = (): void => {
    while (left > 0 && !socket.destroyed) {
      const part = piece.subarray(0, Math.min(piece.length, left));
      left -= part.length;
      if (!socket.write(part)) return;
    }
  };
  socket.on("drain", send);
  socket.on("error", () => {});
  socket.once("data", (data: Buffer) => {
    onAnswer(data.toString());
    socket.destroy();
  });
  socket.write(
    `POST /convert HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: ${bytes}\r\n\r\n`,
  );
  send();
  cleanup.defer(() => void socket.destroy());
  return socket;
}

test("10 connections that send the largest body at once take no more than two, and the others are asked to come again", async () => {
  const { port, post, lines } = start();
  const answers: string[] = [];
  const all = Promise.withResolvers<void>();
  const before = process.memoryUsage().rss;
  let most = 0;
  const timer = setInterval(() => (most = Math.max(most, process.memoryUsage().rss - before)), 20);
  const count = 10;
  const sockets = Array.from({ length: count }, () =>
    attack(port, {
      bytes: MOST_CONVERSION_BYTES,
      onAnswer: (head) => {
        answers.push(head);
        // The one that has been here for longest keeps its place until the deadline.
        if (answers.length === count - 1) all.resolve();
      },
    }),
  );
  await all.promise;
  clearInterval(timer);
  for (const head of answers) expect(head).toMatch(/^HTTP\/1\.1 429 [^]*retry-after: 1\r\n/i);
  expect(most).toBeLessThan(400 * MIB);
  expect(lines.filter(({ msg }) => msg.startsWith("Too many reviews at once"))).toHaveLength(1);
  for (const socket of sockets) socket.destroy();

  const largest = await post(`{"a":"${"a".repeat(MOST_CONVERSION_BYTES - 8)}"}`);
  expect([largest.status, await largest.text()]).toEqual([400, expect.stringContaining("ConversionReview")]);
}, 20_000);

test("malformed requests to /convert are logged once a minute for each kind of failure, with the number of the others", async () => {
  const clock = new FakeClock();
  const { post, lines } = start(clock);
  for (let times = 0; times < 20; times++) expect((await post("{")).status).toBe(400);
  expect(lines).toHaveLength(1);
  clock.advance(60_000);
  await post("{");
  expect(lines.map(({ othersNotLogged }) => othersNotLogged)).toEqual([undefined, 19]);
});
