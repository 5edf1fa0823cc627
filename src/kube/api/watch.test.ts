import { expect, test } from "bun:test";
import { sendStatus, startLoopback, type Handler } from "../../../tests/support/loopback-server.ts";
import { isGone, isTooManyRequests } from "../errors/api-error.ts";
import { createTransport } from "../transport/transport.ts";
import { watch, type WatchOptions } from "./watch.ts";

async function run(handler: Handler, options: Partial<WatchOptions> = {}) {
  await using server = await startLoopback(handler);
  const transport = createTransport(server.config);
  const events: string[] = [];
  let error: unknown;
  try {
    await watch(transport, {
      path: "/api/v1/pods",
      signal: new AbortController().signal,
      onOpen: () => void events.push("open"),
      onEvent: (type, object) => void events.push(`${type} ${object.metadata.name}`),
      onBatch: () => void events.push("|"),
      ...options,
    });
  } catch (thrown) {
    error = thrown;
  } finally {
    await transport.close();
  }
  return { events, error, lines: server.lines };
}

function event(type: string, name: string): string {
  return `${JSON.stringify({ type, object: { kind: "Pod", apiVersion: "v1", metadata: { name, resourceVersion: "1" } } })}\n`;
}

test("watch tells events in order, batch by batch, and resolves when the server ends it", async () => {
  const { events, error, lines } = await run(
    (_, reply) => {
      reply.writeHead(200);
      const text = event("ADDED", "a") + event("MODIFIED", "bü") + event("DELETED", "c") + event("BOOKMARK", "d");
      const bytes = Buffer.from(text);
      const cut = bytes.indexOf("ü") + 1;
      reply.write(bytes.subarray(0, cut));
      setTimeout(() => reply.end(bytes.subarray(cut)), 10);
    },
    { resourceVersion: "7", labels: "a=b", fields: "c=d", timeoutSeconds: 200 },
  );
  expect(error).toBeUndefined();
  expect(events).toEqual(["open", "ADDED a", "|", "MODIFIED bü", "DELETED c", "BOOKMARK d", "|"]);
  expect(lines).toEqual([
    "GET /api/v1/pods?watch=true&allowWatchBookmarks=true&resourceVersion=7&labelSelector=a%3Db&fieldSelector=c%3Dd&timeoutSeconds=200",
  ]);
});

test("watch asks for a streaming list", async () => {
  const { lines } = await run((_, reply) => void reply.end(), { sendInitialEvents: true });
  expect(lines[0]).toEndWith("sendInitialEvents=true&resourceVersionMatch=NotOlderThan");
});

test("watch throws the Status of an ERROR event, after the events before it", async () => {
  const status = { kind: "Status", code: 410, reason: "Expired", message: "too old resource version" };
  const { events, error } = await run(
    (_, reply) =>
      void reply.end(
        `${event("ADDED", "a")}${JSON.stringify({ type: "ERROR", object: status })}\n${event("ADDED", "b")}`,
      ),
  );
  expect(isGone(error)).toBe(true);
  expect(String(error)).toBe("ApiError: Cannot watch pods: Expired (410): too old resource version");
  expect(events).toEqual(["open", "ADDED a"]);
});

test("watch throws ApiError for a refusal before the stream, without retrying", async () => {
  const { events, error, lines } = await run((_, reply) => sendStatus(reply, 429, { headers: { "retry-after": "3" } }));
  expect(isTooManyRequests(error)).toBe(true);
  expect(error).toMatchObject({ retryAfter: 3, verb: "watch" });
  expect(events).toEqual([]);
  expect(lines).toHaveLength(1);
});

test("watch tells nothing after an abort in the middle of a batch", async () => {
  const controller = new AbortController();
  const seen: string[] = [];
  const { error } = await run(
    (_, reply) => void reply.writeHead(200).write(event("ADDED", "a") + event("ADDED", "b")),
    {
      signal: controller.signal,
      onEvent: (_, object) => {
        seen.push(object.metadata.name);
        controller.abort("enough");
      },
    },
  );
  expect(error).toBe("enough");
  expect(seen).toEqual(["a"]);
});

test("watch says that a line is not JSON", async () => {
  const { error } = await run((_, reply) => void reply.end("<html>\n"));
  expect(String(error)).toBe("Error: Cannot read an event of the watch of /api/v1/pods: it is not JSON");
});

test("watch leaves out what nobody could work with, says what is wrong with it, and goes on", async () => {
  const of = (metadata: unknown, type = "ADDED"): string =>
    JSON.stringify({ type, object: { kind: "Pod", apiVersion: "v1", metadata } });
  const deep = `${'{"a":'.repeat(5_000)}1${"}".repeat(5_000)}`;
  const odd = [
    "null",
    "5",
    '"text"',
    "[]",
    "{}",
    '{"type":"ADDED"}',
    '{"type":"ADDED","object":null}',
    '{"type":"SYNC","object":{}}',
    `{"type":"${"x".repeat(500)}","object":{}}`,
    '{"type":{"a":1},"object":{}}',
    of(undefined),
    of([]),
    of({}),
    of({ name: 5 }),
    of({ name: "" }),
    of({ name: "a", namespace: {} }),
    of({ name: "a", uid: 1 }),
    of({ name: "a", resourceVersion: 7 }),
    of({ name: "a", labels: "x" }),
    of({ name: "a", annotations: [] }),
    of({ name: "a", ownerReferences: {} }),
    of({ name: "a", ownerReferences: [null] }),
    of({ name: "a", managedFields: [1] }),
    of({ name: "a", finalizers: [{}] }),
    of({ name: "a" }),
    of({ resourceVersion: 7 }, "BOOKMARK"),
    of({ resourceVersion: "7", annotations: "x" }, "BOOKMARK"),
  ];
  const fine = [
    of({ name: "a", resourceVersion: "7", labels: { __proto__: "x", constructor: "y" } }).replace(
      "{",
      '{"__proto__":{"type":"ERROR"},',
    ),
    `{"type":"ADDED","object":{"kind":"Pod","apiVersion":"v1","metadata":{"name":"deep","resourceVersion":"8"},"spec":${deep}}}`,
    of({ name: "last", resourceVersion: "9" }, "DELETED"),
  ];
  const flaws: string[] = [];
  const { events, error } = await run((_, reply) => void reply.end([...odd, ...fine, ""].join("\n")), {
    onBatch() {},
    onLeftOut: (_, flaw) => void flaws.push(flaw),
  });
  expect(error).toBeUndefined();
  expect(events).toEqual(["open", "ADDED a", "ADDED deep", "DELETED last"]);
  expect(flaws).toHaveLength(odd.length);
  expect(flaws.filter((flaw) => flaw.length > 100)).toEqual([]);
  expect(flaws.slice(6, 8)).toEqual(["the event has no object", 'the event\'s type is "SYNC"']);
  expect(flaws.slice(-5)).toEqual([
    "metadata.managedFields[0] is a number",
    "metadata.finalizers[0] is an object",
    "metadata.resourceVersion is missing",
    "metadata.resourceVersion is a number",
    "metadata.annotations is a string",
  ]);
});

test("watch reads bytes that are no UTF-8 as characters that stand for them", async () => {
  const text = Buffer.from(event("ADDED", "aXb"));
  text[text.indexOf("X")] = 0xff;
  const { events, error } = await run((_, reply) => void reply.end(text), { onBatch() {} });
  expect([events, error]).toEqual([["open", "ADDED a\ufffdb"], undefined]);
});
