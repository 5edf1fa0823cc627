import { expect, test } from "bun:test";
import { isUnreachable } from "../errors/api-error.ts";
import type { ClusterConfig } from "../config/cluster-config.ts";
import { createTransport } from "./transport.ts";

function answeredBy(answer: (request: Request) => Promise<Response>): ClusterConfig {
  return {
    server: "https://127.0.0.1:1",
    context: "test",
    user: "test",
    namespace: "default",
    tls: { ca: undefined, cert: undefined, key: undefined, serverName: undefined, rejectUnauthorized: true },
    answer,
    headers: () => ({ "x-user": "me", "impersonate-group": ["a", "b"] }),
    reload: () => Promise.resolve(false),
  };
}

test("a short request reaches the function with method, path, headers and body", async () => {
  const seen: unknown[] = [];
  const transport = createTransport(
    answeredBy(async (request) => {
      seen.push([request.method, request.url, request.headers.get("impersonate-group"), await request.text()]);
      return Response.json({ done: true });
    }),
  );
  const answer = await transport.request<object>({ method: "POST", path: "/x", query: "a=1", body: { b: 2 } });
  expect(answer).toEqual({ done: true });
  expect(seen).toEqual([["POST", "https://127.0.0.1:1/x?a=1", "a, b", '{"b":2}']]);
  await transport.close();
});

test("a stream hears chunks as they come, and closes the answer when it is aborted", async () => {
  const closed = Promise.withResolvers<void>();
  let sender!: ReadableStreamDefaultController<Uint8Array>;
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => void (sender = controller),
    cancel: () => closed.resolve(),
  });
  const transport = createTransport(answeredBy(() => Promise.resolve(new Response(body))));
  const heard: string[] = [];
  const stop = new AbortController();
  const two = Promise.withResolvers<void>();
  const stream = transport.stream({
    method: "GET",
    path: "/watch",
    signal: stop.signal,
    onHeaders: () => heard.push("headers"),
    onChunk: (chunk) => {
      heard.push(new TextDecoder().decode(chunk));
      if (heard.length === 3) two.resolve();
    },
  });
  sender.enqueue(new TextEncoder().encode("one"));
  await Bun.sleep(0);
  sender.enqueue(new TextEncoder().encode("two"));
  await two.promise;
  expect(heard).toEqual(["headers", "one", "two"]);
  expect(transport.stats).toMatchObject({ streams: 1 });
  stop.abort(new Error("enough"));
  await expect(stream).rejects.toThrow("enough");
  await closed.promise;
  expect(transport.stats).toMatchObject({ streams: 0 });
  await transport.close();
});

test("a function that rejects is a server that cannot be reached", async () => {
  const transport = createTransport(answeredBy(() => Promise.reject(Object.assign(new Error("x"), { code: "EPIPE" }))));
  const failure = await transport
    .stream({ method: "GET", path: "/", onChunk: () => {} })
    .catch((error: unknown) => error);
  expect(isUnreachable(failure)).toBe(true);
  await transport.close();
});
