import { expect, test } from "bun:test";
import { sendJson, sendStatus, startLoopback } from "../../scripts/loopback-server.ts";
import { isGone } from "./api-error.ts";
import { listPages } from "./list.ts";
import { createTransport } from "./transport.ts";

/** A server with `count` pods; `expired` pages answer 410. */
async function start(count: number, options: { expired?: boolean; partial?: boolean } = {}) {
  const stack = new AsyncDisposableStack();
  const items = Array.from({ length: count }, (_, i) => ({ metadata: { name: `p${i}` } }));
  const server = stack.use(
    await startLoopback((request, reply) => {
      const from = Number(request.query.get("continue") ?? 0);
      if (options.expired && from > 0) return sendStatus(reply, 410, { reason: "Expired", message: "too old" });
      const limit = Number(request.query.get("limit") ?? count);
      const end = from + limit;
      const metadata = { resourceVersion: String(100 + from), ...(end < count && { continue: String(end) }) };
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
  return { server, transport, [Symbol.asyncDispose]: () => stack.disposeAsync() };
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

test("listPages asks for metadata alone until a page has a wanted item, and for that page again", async () => {
  await using kit = await start(30, { partial: true });
  const got: Item[] = [];
  const isWanted = (item: Item): boolean => item.metadata.name === "p15";
  const partial = { apiVersion: "v1", kind: "Pod", isWanted };
  const result = await listPages<Item>(kit.transport, {
    path,
    limit: 10,
    partial,
    onPage: (page) => void got.push(...page),
  });
  expect(result).toEqual({ resourceVersion: "100", pages: 3 });
  expect(got.map(({ metadata }) => metadata.name)).toEqual(Array.from({ length: 30 }, (_, i) => `p${i}`));
  expect(new Set(got.map(({ apiVersion, kind }) => `${apiVersion} ${kind}`))).toEqual(new Set(["v1 Pod"]));
  expect(kit.server.lines).toEqual([
    "GET /api/v1/pods?limit=10",
    "GET /api/v1/pods?limit=10&continue=10",
    "GET /api/v1/pods?limit=10&continue=10",
    "GET /api/v1/pods?limit=10&continue=20",
  ]);
});

test("listPages takes whole items from a server that has no metadata alone", async () => {
  await using kit = await start(10);
  const got: Item[] = [];
  const partial = { apiVersion: "v1", kind: "Pod", isWanted: () => true };
  await listPages<Item>(kit.transport, { path, limit: 10, partial, onPage: (page) => void got.push(...page) });
  expect(got).toHaveLength(10);
  expect(kit.server.lines).toHaveLength(1);
});
