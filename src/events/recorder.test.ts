import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { type LoopbackServer, sendJson, sendStatus, startLoopback } from "../../tests/support/loopback-server.ts";
import { until } from "../../tests/support/until.ts";
import { createTransport, type Transport } from "../kube/transport/transport.ts";
import { createLog } from "../observe/log.ts";
import type { AnyObject } from "../resource/handle.ts";
import { FakeClock } from "../testing/fake-clock.ts";
import { EventRecorder } from "./recorder.ts";

const MINUTE = 60_000;
const START = Date.UTC(2026, 0, 2, 3, 4, 5, 678);

interface EventBody {
  readonly metadata: { readonly name: string; readonly namespace: string };
  readonly series?: { readonly count: number; readonly lastObservedTime: string };
  readonly reason: string;
  readonly action: string;
  readonly note: string;
  readonly [field: string]: unknown;
}

let server: LoopbackServer;
let transport: Transport;
let clock: FakeClock;
let lines: string[];
let gate: { refused: string | undefined };
let drops: string[];
let recorder: EventRecorder;

beforeEach(async () => {
  server = await startLoopback((request, reply) => sendJson(reply, JSON.parse(request.body)), { protocol: "plain" });
  transport = createTransport(server.config);
  clock = new FakeClock(START);
  lines = [];
  gate = { refused: undefined };
  drops = [];
  recorder = new EventRecorder({
    transport: { request: (request) => tracked(transport.request(request)) },
    gate,
    clock,
    log: createLog({ level: "info", format: "json", write: (line) => lines.push(line) }),
    metrics: { eventDropped: (reason) => drops.push(reason) },
    instance: "host-1",
  });
});

afterEach(async () => {
  await recorder.close();
  expect(clock.timers).toBe(0);
  await transport.close();
  await server[Symbol.asyncDispose]();
});

function object(name: string, namespace?: string): AnyObject {
  const metadata = {
    name,
    namespace,
    uid: `uid-${name}`,
    resourceVersion: "7",
    creationTimestamp: "2026-01-01T00:00:00Z",
  };
  return { apiVersion: "demo.binnacle.dev/v1", kind: "Guestbook", metadata };
}

const book = object("book", "web");
const created = { type: "Normal", reason: "Created", action: "Create", message: "created a deployment" } as const;

/** Returns what arrived, as `POST` or `PATCH`, with its `series.count`. The transport's probes are GETs. */
function sent(): [method: string, count: number | undefined][] {
  const writes = server.requests.filter(({ method }) => method !== "GET");
  return writes.map(({ method, body }) => [method, (JSON.parse(body) as EventBody).series?.count]);
}

function bodies(): EventBody[] {
  return server.requests.map(({ body }) => JSON.parse(body) as EventBody);
}

const inFlight = new Set<Promise<unknown>>();

function tracked<T>(request: Promise<T>): Promise<T> {
  inFlight.add(request);
  const remove = () => void inFlight.delete(request);
  request.then(remove, remove);
  return request;
}

/** Resolves when all that was recorded has been sent; unlike `flush`, it causes no sending. */
async function settled(): Promise<void> {
  do {
    await new Promise((resolve) => setImmediate(resolve));
    await Promise.allSettled(inFlight);
  } while (inFlight.size > 0);
  await new Promise((resolve) => setImmediate(resolve));
}

describe("repeating", () => {
  test("EVT-01 record sends the same event twice as one POST and one PATCH with series.count 2", async () => {
    const events = recorder.for("guestbook");
    events.record(book, created);
    await recorder.flush();
    clock.advance(1000);
    events.record(book, created);
    await recorder.flush();
    expect(sent()).toEqual([
      ["POST", undefined],
      ["PATCH", 2],
    ]);
    const [post, patch] = server.requests;
    const { name } = bodies()[0]!.metadata;
    expect(post!.path).toBe("/apis/events.k8s.io/v1/namespaces/web/events");
    expect(patch!.path).toBe(`/apis/events.k8s.io/v1/namespaces/web/events/${name}`);
    expect(patch!.headers["content-type"]).toBe("application/merge-patch+json");
    expect(bodies()[1]).toEqual({ series: { count: 2, lastObservedTime: "2026-01-02T03:04:06.678000Z" } } as never);
    events.record(book, { ...created, action: "Recreate" });
    await recorder.flush();
    expect(sent()[2]).toEqual(["POST", undefined]);
  });

  test("EVT-01 record does so too for a burst, and tells differing messages and objects apart", async () => {
    const events = recorder.for("guestbook");
    for (let i = 0; i < 5; i++) events.record(book, created);
    events.record(book, { ...created, message: "created a service" });
    events.record(object("other", "web"), created);
    recorder.for("second").record(book, created);
    await recorder.flush();
    expect(sent().filter(([method]) => method === "POST")).toHaveLength(4);
    expect(sent().filter(([method]) => method === "PATCH")).toEqual([["PATCH", 5]]);
  });

  test("EVT-02 record sends the count a last time when a series has ended, and forgets it", async () => {
    const events = recorder.for("guestbook");
    for (let i = 0; i < 2; i++) {
      events.record(book, created);
      await recorder.flush();
    }
    // This one is only counted here.
    events.record(book, created);
    expect(server.requests).toHaveLength(2);
    clock.advance(4 * MINUTE);
    events.record(object("single", "web"), created);
    clock.advance(2 * MINUTE - 1);
    await settled();
    expect(sent()).toHaveLength(3);
    // This is 9 minutes after the last of the series, and 5 minutes after the single event.
    clock.advance(3 * MINUTE);
    await settled();
    expect(sent()[3]).toEqual(["PATCH", 3]);
    expect(sent()).toHaveLength(4);
    // The series of `book` is over, that of `single` is not.
    events.record(book, created);
    events.record(object("single", "web"), created);
    await recorder.flush();
    expect(sent().slice(-2)).toEqual([
      ["POST", undefined],
      ["PATCH", 2],
    ]);
  });

  test("EVT-02 record sends the last count by itself, without a flush", async () => {
    const events = recorder.for("guestbook");
    for (let i = 0; i < 2; i++) {
      events.record(book, created);
      await recorder.flush();
    }
    events.record(book, created);
    events.record(book, created);
    clock.advance(6 * MINUTE - 1);
    await settled();
    expect(server.requests).toHaveLength(2);
    clock.advance(1);
    await settled();
    expect(sent()[2]).toEqual(["PATCH", 4]);
    expect(clock.timers).toBe(0);
  });

  test("record refreshes a series that goes on every 30 minutes", async () => {
    const events = recorder.for("guestbook");
    for (let minute = 0; minute <= 65; minute += 5) {
      events.record(book, created);
      await settled();
      clock.advance(5 * MINUTE);
    }
    expect(sent()).toEqual([
      ["POST", undefined],
      ["PATCH", 2],
      ["PATCH", 8],
      ["PATCH", 14],
    ]);
  });

  test("record creates the event again when it has expired on the server", async () => {
    const events = recorder.for("guestbook");
    events.record(book, created);
    await recorder.flush();
    server.handler = (request, reply) =>
      request.method === "PATCH" ? sendStatus(reply, 404, { reason: "NotFound" }) : sendJson(reply, {});
    events.record(book, created);
    await recorder.flush();
    expect(sent()).toEqual([
      ["POST", undefined],
      ["PATCH", 2],
      ["POST", 2],
    ]);
    expect(recorder.dropped).toBe(0);
  });
});

describe("bodies", () => {
  test("record writes events.k8s.io/v1 with everything that the server wants", async () => {
    recorder.for("guestbook").record(book, { type: "Warning", reason: "Failed", message: "no" });
    await recorder.flush();
    expect(bodies()[0]!).toEqual({
      apiVersion: "events.k8s.io/v1",
      kind: "Event",
      metadata: { name: expect.stringMatching(/^book\.[0-9a-f]{16}$/), namespace: "web" },
      eventTime: "2026-01-02T03:04:05.678000Z",
      type: "Warning",
      reason: "Failed",
      action: "Failed",
      note: "no",
      reportingController: "binnacle.dev/guestbook",
      reportingInstance: "guestbook-host-1",
      regarding: {
        apiVersion: "demo.binnacle.dev/v1",
        kind: "Guestbook",
        namespace: "web",
        name: "book",
        uid: "uid-book",
        resourceVersion: "7",
      },
    });
  });

  test("record puts events of cluster-scoped objects into default", async () => {
    recorder.for("nodes").record(object("system:node-1"), created);
    await recorder.flush();
    expect(server.requests[0]!.path).toBe("/apis/events.k8s.io/v1/namespaces/default/events");
    expect(bodies()[0]!.metadata).toEqual({
      name: expect.stringMatching(/^event\.[0-9a-f]{16}$/),
      namespace: "default",
    });
  });

  test("record keeps within the server's limits", async () => {
    const events = new EventRecorder({
      transport,
      gate,
      clock,
      log: createLog({ level: "error", format: "json" }),
      instance: "h".repeat(200),
    });
    const message = `${"x".repeat(1022)}€ and more`;
    events.for("a".repeat(63)).record(object(`${"n".repeat(235)}.${"m".repeat(17)}`, "web"), {
      type: "Normal",
      reason: "R".repeat(200),
      action: "A".repeat(200),
      message,
    });
    await events.close();
    const [body] = bodies();
    expect(body!.note).toBe("x".repeat(1022));
    expect([body!.reason.length, body!.action.length]).toEqual([128, 128]);
    expect(String(body!["reportingInstance"])).toHaveLength(128);
    expect(body!.metadata.name).toMatch(/^n{235}\.[0-9a-f]{16}$/);
  });

  test("record never throws, whatever it is given", async () => {
    const events = recorder.for("guestbook");
    events.record(book, { type: "Normal", reason: "", message: undefined as unknown as string });
    await recorder.flush();
    expect(bodies()[0]).toMatchObject({ reason: "Unspecified", action: "Unspecified" });
  });
});

describe("in flight", () => {
  test("flush sends an event that is in flight once, and what happened to it meanwhile", async () => {
    const held = Promise.withResolvers<void>();
    server.handler = async (request, reply) => {
      await held.promise;
      sendJson(reply, JSON.parse(request.body));
    };
    const events = recorder.for("guestbook");
    events.record(book, created);
    await until(() => server.requests.length === 1);
    const early = recorder.flush();
    for (let i = 0; i < 3; i++) events.record(book, created);
    const late = recorder.flush();
    held.resolve();
    await Promise.all([early, late]);
    expect(sent()).toEqual([
      ["POST", undefined],
      ["PATCH", 4],
    ]);
  });
});

describe("limits", () => {
  test("record sends 25 events about one object at once, then one every 5 minutes", async () => {
    const events = recorder.for("guestbook");
    const record = (from: number, to: number) => {
      for (let i = from; i < to; i++) events.record(book, { ...created, message: `number ${i}` });
    };
    record(0, 30);
    await recorder.flush();
    expect(server.requests).toHaveLength(25);
    expect([recorder.dropped, drops]).toEqual([5, Array<string>(5).fill("rate")]);
    events.record(object("other", "web"), created);
    clock.advance(5 * MINUTE);
    record(30, 32);
    await recorder.flush();
    expect(server.requests).toHaveLength(27);
    expect(recorder.dropped).toBe(6);
  });

  test("record holds 1,000 events and drops further ones", async () => {
    const events = recorder.for("guestbook");
    const held = Promise.withResolvers<void>();
    server.handler = async (request, reply) => {
      await held.promise;
      sendJson(reply, JSON.parse(request.body));
    };
    events.record(object("first", "web"), created);
    await until(() => server.requests.length === 1);
    for (let i = 0; i < 1010; i++) events.record(object(`o${i}`, "web"), created);
    expect([recorder.dropped, new Set(drops)]).toEqual([10, new Set(["full"])]);
    held.resolve();
    await recorder.flush();
    expect(server.requests).toHaveLength(1001);
  });
});

describe("failures", () => {
  test("record tries again after a pause when the server fails", async () => {
    let failures = 2;
    server.handler = (request, reply) =>
      failures-- > 0 ? sendStatus(reply, 500, { reason: "InternalError" }) : sendJson(reply, JSON.parse(request.body));
    recorder.for("guestbook").record(book, created);
    // The other timer belongs to the series.
    for (const requests of [1, 2]) {
      await until(() => server.requests.length === requests && clock.timers === 2);
      clock.advance(10_000);
    }
    await recorder.flush();
    expect(server.requests).toHaveLength(3);
    expect(recorder.dropped).toBe(0);
  });

  test("record takes an event that exists already for its own", async () => {
    const posts = () => sent().filter(([method]) => method === "POST").length;
    // The first response is lost.
    server.handler = (request, reply) => {
      if (posts() === 1) request.socket.destroy();
      else sendStatus(reply, 409, { reason: "AlreadyExists" });
    };
    recorder.for("guestbook").record(book, created);
    await until(() => clock.timers === 2);
    clock.advance(10_000);
    await recorder.flush();
    expect(posts()).toBe(2);
    expect(recorder.dropped).toBe(0);
  });

  test("record gives up what the server refuses, and warns once", async () => {
    server.handler = (_request, reply) =>
      sendStatus(reply, 403, { reason: "Forbidden", message: "may not create events" });
    const events = recorder.for("guestbook");
    events.record(book, created);
    events.record(object("other", "web"), created);
    await recorder.flush();
    expect(server.requests).toHaveLength(2);
    expect([recorder.dropped, drops]).toEqual([2, ["failed", "failed"]]);
    expect(lines).toHaveLength(1);
    expect(JSON.parse(lines[0]!)).toMatchObject({
      level: "warn",
      error: { message: expect.stringContaining("events") },
    });
    // The next occurrence belongs to the same series.
    server.handler = (request, reply) => sendJson(reply, JSON.parse(request.body));
    events.record(book, created);
    await settled();
    expect(sent()[2]).toEqual(["POST", 2]);
  });

  test.each([403, 422])("EVT-03 a series goes on after its count was refused with %d", async (code) => {
    const events = recorder.for("guestbook");
    events.record(book, created);
    await settled();
    const taking = server.handler;
    server.handler = (_request, reply) => sendStatus(reply, code);
    events.record(book, created);
    await settled();
    expect([recorder.dropped, drops]).toEqual([1, ["failed"]]);
    server.handler = taking;
    for (let minute = 0; minute < 30; minute += 5) {
      events.record(book, created); // this one is only counted here
      await settled();
      clock.advance(5 * MINUTE);
    }
    const { name } = bodies()[0]!.metadata;
    events.record(book, created);
    await settled();
    expect(sent()).toEqual([
      ["POST", undefined],
      ["PATCH", 2],
      ["PATCH", 9],
    ]);
    expect(server.requests.at(-1)!.path).toEndWith(`/${name}`);
  });

  test("EVT-03 an Event that is refused each time it happens is not sent each time", async () => {
    server.handler = (_request, reply) => sendStatus(reply, 403);
    const events = recorder.for("guestbook");
    for (let i = 0; i < 10; i++) {
      events.record(book, created);
      await settled();
    }
    expect(sent()).toEqual([
      ["POST", undefined],
      ["POST", 2],
    ]);
  });

  test("record sends nothing while writes are refused", async () => {
    gate.refused = "the lease was lost";
    recorder.for("guestbook").record(book, created);
    gate.refused = undefined;
    recorder.for("guestbook").record(object("other", "web"), created);
    gate.refused = "the lease was lost";
    await recorder.flush();
    expect(server.requests).toHaveLength(0);
    expect(drops).toEqual(["refused", "refused"]);
  });

  test("flush gives up when its signal fires", async () => {
    server.handler = (_request, reply) => sendStatus(reply, 500);
    recorder.for("guestbook").record(book, created);
    await until(() => clock.timers === 2);
    await expect(recorder.flush(AbortSignal.timeout(5))).rejects.toThrow("timed out");
  });
});

describe("close", () => {
  test("close sends what waits, counts included, and drops what comes later", async () => {
    const events = recorder.for("guestbook");
    for (let i = 0; i < 2; i++) {
      events.record(book, created);
      await recorder.flush();
    }
    events.record(book, created);
    events.record(object("other", "web"), created);
    const closed = recorder.close();
    events.record(object("late", "web"), created);
    await closed;
    expect(sent().slice(2)).toEqual([
      ["POST", undefined],
      ["PATCH", 3],
    ]);
    expect(drops).toEqual(["closed"]);
  });

  test("close does not wait for a server that does not answer", async () => {
    server.handler = () => {};
    const events = recorder.for("guestbook");
    for (let i = 0; i < 20; i++) events.record(object(`o${i}`, "web"), created);
    await until(() => server.requests.length === 1);
    const closed = recorder.close();
    clock.advance(5000);
    await closed;
    expect(server.requests).toHaveLength(1);
    expect(recorder.dropped).toBe(20);
  });

  test("close ends the pause between tries", async () => {
    server.handler = (_request, reply) => sendStatus(reply, 500);
    recorder.for("guestbook").record(book, created);
    await until(() => clock.timers === 2);
    await recorder.close();
    expect(server.requests).toHaveLength(2);
    expect(drops).toEqual(["failed"]);
  });
});
