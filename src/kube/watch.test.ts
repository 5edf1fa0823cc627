import { expect, test } from "bun:test";
import { sendStatus, startLoopback, type Handler } from "../../scripts/loopback-server.ts";
import { isGone, isTooManyRequests } from "./api-error.ts";
import { createTransport } from "./transport.ts";
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
  return `${JSON.stringify({ type, object: { kind: "Pod", apiVersion: "v1", metadata: { name } } })}\n`;
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
