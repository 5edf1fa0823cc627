import { expect, test } from "bun:test";
import { sendJson, sendStatus, startLoopback } from "../../../tests/support/loopback-server.ts";
import { isGone } from "../errors/api-error.ts";
import { listMetadata, listPages } from "./list.ts";
import { createTransport } from "../transport/transport.ts";

/** A server with `count` pods; `expired` pages answer 410. */
async function start(
  count: number,
  options: { expired?: boolean; partial?: boolean; counts?: boolean; bytes?: number } = {},
) {
  const stack = new AsyncDisposableStack();
  const text = options.bytes === undefined ? undefined : "x".repeat(options.bytes);
  const items = Array.from({ length: count }, (_, i) => ({ metadata: { name: `p${i}`, resourceVersion: "1" }, text }));
  const server = stack.use(
    await startLoopback((request, reply) => {
      const from = Number(request.query.get("continue") ?? 0);
      if (options.expired && from > 0) return sendStatus(reply, 410, { reason: "Expired", message: "too old" });
      const limit = Number(request.query.get("limit") ?? count);
      const end = from + limit;
      const metadata = {
        resourceVersion: String(100 + from),
        ...(end < count && { continue: String(end) }),
        ...(end < count && options.counts && { remainingItemCount: count - end }),
      };
      if (options.partial && String(request.headers["accept"]).includes("PartialObjectMetadataList")) {
        const stubs = items
          .slice(from, end)
          .map((item) => ({ ...item, apiVersion: "meta.k8s.io/v1", kind: "Partial" }));
        return sendJson(reply, {
          kind: "PartialObjectMetadataList",
          apiVersion: "meta.k8s.io/v1",
          metadata,
          items: stubs,
        });
      }
      sendJson(reply, { kind: "PodList", apiVersion: "v1", metadata, items: items.slice(from, end) });
    }),
  );
  const transport = createTransport(server.config);
  stack.defer(() => transport.close());
  const limits = (): (string | null)[] => server.requests.map(({ query }) => query.get("limit"));
  return { server, transport, limits, [Symbol.asyncDispose]: () => stack.disposeAsync() };
}

interface Item {
  apiVersion?: string;
  kind?: string;
  metadata: { name: string };
}

const path = "/api/v1/pods";

test("PAGE-01 listPages lists 21 objects in three pages of 10, with the version of the first", async () => {
  await using kit = await start(21);
  const got: Item[] = [];
  const result = await listPages<Item>(kit.transport, {
    path,
    limit: 10,
    labels: "a=b",
    onPage: (items) => void got.push(...items),
  });
  expect(result).toEqual({ resourceVersion: "100", pages: 3 });
  expect(got.map(({ metadata }) => metadata.name)).toEqual(Array.from({ length: 21 }, (_, i) => `p${i}`));
  expect(got[20]).toMatchObject({ apiVersion: "v1", kind: "Pod" });
  expect(kit.server.lines).toEqual([
    "GET /api/v1/pods?limit=10&labelSelector=a%3Db",
    "GET /api/v1/pods?limit=10&labelSelector=a%3Db&continue=10",
    "GET /api/v1/pods?limit=10&labelSelector=a%3Db&continue=20",
  ]);
});

test("PAGE-01 listPages lists 10 objects with one request", async () => {
  await using kit = await start(10);
  expect(await listPages(kit.transport, { path, limit: 10, onPage() {} })).toEqual({
    resourceVersion: "100",
    pages: 1,
  });
});

test("PAGE-02 listPages tells that the token expired, or lists everything again", async () => {
  await using kit = await start(21, { expired: true });
  expect(await listPages(kit.transport, { path, limit: 10, onPage() {} }).catch(isGone)).toBe(true);
  let got: unknown[] = [];
  const options = { path, limit: 10, fullListIfExpired: true, onRestart: () => void (got = []) };
  const result = await listPages(kit.transport, { ...options, onPage: (items) => void got.push(...items) });
  expect(result).toEqual({ resourceVersion: "100", pages: 2 });
  expect(got).toHaveLength(21);
});

test("listPages waits for onPage and ends with what it throws", async () => {
  await using kit = await start(21);
  const listing = listPages(kit.transport, {
    path,
    limit: 10,
    async onPage() {
      await Bun.sleep(1);
      throw new Error("full");
    },
  });
  expect(listing).rejects.toThrow("full");
  await listing.catch(() => {});
  expect(kit.server.requests).toHaveLength(1);
});

test("listMetadata asks for metadata alone, and takes whole items from a server that has nothing else", async () => {
  const type = { apiVersion: "v1", kind: "Pod" };
  for (const partial of [true, false]) {
    await using kit = await start(15, { partial });
    const got: string[] = [];
    const result = await listMetadata(kit.transport, {
      path,
      limit: 10,
      type,
      onPage: (items, { isWhole }) =>
        void got.push(
          ...items.map(({ apiVersion, kind, metadata }) => `${apiVersion} ${kind} ${metadata.name} ${isWhole}`),
        ),
    });
    expect(result).toEqual({ resourceVersion: "100", pages: 2 });
    expect(got).toEqual(Array.from({ length: 15 }, (_, i) => `v1 Pod p${i} ${!partial}`));
    expect(kit.server.lines).toEqual(["GET /api/v1/pods?limit=10", "GET /api/v1/pods?limit=10&continue=10"]);
    expect(kit.server.requests[0]!.headers.accept).toStartWith("application/vnd.kubernetes.protobuf;as=PartialObject");
  }
});

test("listPages and listMetadata ask for larger pages of long lists, and for no more than `onPage` wants", async () => {
  await using kit = await start(30_000, { partial: true, counts: true });
  await listPages(kit.transport, { path, onPage() {} });
  expect(kit.limits().slice(0, 3)).toEqual(["500", "1500", "1500"]);
  expect(kit.limits()).toHaveLength(21);
  kit.server.requests.length = 0;
  const type = { apiVersion: "v1", kind: "Pod" };
  await listMetadata(kit.transport, { path, type, onPage() {} });
  expect(kit.limits()).toEqual(["2000", "9334", "9333", "9333"]);
  kit.server.requests.length = 0;
  expect(await listPages(kit.transport, { path, onPage: (_, { hasNext }) => (hasNext ? false : undefined) })).toEqual({
    resourceVersion: "100",
    pages: 1,
  });
  expect(kit.limits()).toEqual(["500"]);
});

test("listPages asks for smaller pages of larger objects, and for a state that is not older than one that is known", async () => {
  await using kit = await start(30_000, { counts: true, bytes: 20_000 });
  await listPages(kit.transport, {
    path,
    notOlderThan: "90",
    onPage: (_, { hasNext }) => (hasNext && kit.limits().length > 1 ? false : undefined),
  });
  expect(kit.limits()).toEqual(["500", "835"]);
  expect(kit.server.lines[0]).toBe("GET /api/v1/pods?limit=500&resourceVersion=90&resourceVersionMatch=NotOlderThan");
});

test("listPages asks for smaller pages where items are so large that a page is not read", async () => {
  const asked: string[] = [];
  const large = "x".repeat(1024 * 1024);
  await using server = await startLoopback(({ query }, reply) => {
    asked.push(`${query.get("limit")} from ${query.get("continue") ?? 0}`);
    const from = Number(query.get("continue") ?? 0);
    const end = Math.min(from + Number(query.get("limit")), 40);
    const metadata = { resourceVersion: "7", ...(end < 40 && { continue: String(end) }) };
    const items = Array.from({ length: end - from }, (_, i) => ({
      metadata: { name: `p${from + i}`, resourceVersion: "1" },
      data: large,
    }));
    sendJson(reply, { kind: "PodList", apiVersion: "v1", metadata, items });
  });
  const transport = createTransport(server.config);
  const names = new Set<string>();
  const onPage = (items: Item[]): void => items.forEach(({ metadata }) => void names.add(metadata.name));
  expect(await listPages<Item>(transport, { path, limit: 40, onPage })).toMatchObject({
    resourceVersion: "7",
    pages: 8,
  });
  expect(names.size).toBe(40);
  expect(asked.slice(0, 3)).toEqual(["40 from 0", "5 from 0", "5 from 5"]);
  await transport.close();
});

test("listPages asks for smaller pages where memory is limited, and for room before each", async () => {
  await using kit = await start(1_000, { bytes: 1_000, counts: true });
  let made = 0;
  const make = (): undefined => void made++;
  const room = { pageBytes: 100_000, answerBytes: 300_000, lists: 1, make, isFull: false, brought() {} };
  let seen = 0;
  const { pages } = await listPages<Item>(kit.transport, {
    path,
    room,
    onPage: (items) => void (seen += items.length),
  });
  expect(seen).toBe(1_000);
  // The first page turns out to be too large; the other ones have what fits into 100,000 bytes.
  expect(kit.limits().slice(0, 2)).toEqual(["500", "63"]);
  expect(Math.max(...kit.limits().slice(2).map(Number))).toBeLessThanOrEqual(63);
  expect(made).toBe(pages + 1);
});
