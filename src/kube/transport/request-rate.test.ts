import { expect, test } from "bun:test";
import { startLoopback, sendJson } from "../../../tests/support/loopback-server.ts";
import { FakeClock } from "../../testing/fake-clock.ts";
import { RequestRate } from "./request-rate.ts";
import { createTransport } from "./transport.ts";

const settled = async (): Promise<void> => {
  for (let turn = 0; turn < 5; turn++) await Promise.resolve();
};

test("RequestRate lets a burst through, then so many a second, in their order, and refills in a pause", async () => {
  const clock = new FakeClock();
  const rate = new RequestRate({ qps: 10, burst: 3 }, clock);
  const order: number[] = [];
  const ask = (from: number, to: number): void => {
    for (let one = from; one < to; one++) {
      const wait = rate.take(undefined);
      if (wait === undefined) order.push(one);
      else void wait.then(() => order.push(one));
    }
  };
  ask(0, 6);
  expect(order).toEqual([0, 1, 2]);
  clock.advance(100);
  await settled();
  expect(order).toEqual([0, 1, 2, 3]);
  clock.advance(150);
  await settled();
  expect(order).toEqual([0, 1, 2, 3, 4]);
  clock.advance(10_000);
  await settled();
  order.length = 0;
  ask(0, 4);
  expect(order).toEqual([0, 1, 2]);
  rate[Symbol.dispose]();
  await settled();
  expect([order, clock.timers]).toEqual([[0, 1, 2, 3], 0]);
});

test("RequestRate: who gives up takes nobody's turn", async () => {
  const clock = new FakeClock();
  const rate = new RequestRate({ qps: 1, burst: 1 }, clock);
  expect(rate.take(undefined)).toBeUndefined();
  const stop = new AbortController();
  const first = rate.take(stop.signal)!;
  let second = false;
  void rate.take(undefined)!.then(() => (second = true));
  stop.abort(new Error("enough"));
  expect(first).rejects.toThrow("enough");
  await settled();
  clock.advance(1_000);
  await settled();
  expect(second).toBe(true);
});

test("createTransport limits the rate of requests, and neither of watches nor of the Lease", async () => {
  await using server = await startLoopback((_, reply) => sendJson(reply, {}));
  const clock = new FakeClock();
  const transport = createTransport(server.config, { clock, rate: { qps: 1, burst: 1 } });
  const get = (path: string, more = {}) => transport.request({ method: "GET", path, ...more });
  await get("/first");
  const second = get("/second");
  await get("/lease", { traffic: "lease" });
  await transport.stream({ method: "GET", path: "/watch", onChunk: () => {} });
  expect(server.lines).toEqual(["GET /first", "GET /lease", "GET /watch"]);
  clock.advance(1_000);
  await second;
  expect(server.lines).toContain("GET /second");
  const third = get("/third");
  const closed = transport.close();
  expect(third).rejects.toThrow("the transport was closed");
  await closed;
});
