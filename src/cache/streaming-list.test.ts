import { afterEach, expect, test } from "bun:test";
import { RestMapper } from "../kube/api/mapper.ts";
import { createTransport } from "../kube/transport/transport.ts";
import { handle } from "../resource/handle.ts";
import { FakeClock } from "../testing/fake-clock.ts";
import { listOf, refusal, ScriptedServer } from "../../tests/support/scripted-server.ts";
import { until } from "../../tests/support/until.ts";
import { SharedInformer } from "./shared-informer.ts";
import { StreamMemory } from "./streaming-list.ts";

const ConfigMap = handle({ apiVersion: "v1", kind: "ConfigMap", scope: "Namespaced", plural: "configmaps" });
const PATH = "/api/v1/configmaps";
let cleanup = new AsyncDisposableStack();
afterEach(async () => {
  await cleanup.disposeAsync();
  cleanup = new AsyncDisposableStack();
});

function map(name: string, version: number) {
  const metadata = { name, namespace: "ns", uid: `uid-${name}`, resourceVersion: String(version) };
  return { apiVersion: "v1", kind: "ConfigMap", metadata };
}

const bookmark = (version: number, end?: string) => {
  const annotations = end === undefined ? undefined : { "k8s.io/initial-events-end": end };
  return [
    "BOOKMARK",
    { apiVersion: "v1", kind: "ConfigMap", metadata: { resourceVersion: String(version), annotations } },
  ] as const;
};

async function setUp() {
  const server = cleanup.use(await ScriptedServer.start());
  server.onList = () => ({ body: listOf([map("listed", 7)], "7") });
  const transport = createTransport(server.config);
  cleanup.defer(() => transport.close());
  const clock = new FakeClock();
  const streams = new StreamMemory();
  const mapper = new RestMapper(transport);
  const make = () => {
    const informer = new SharedInformer(ConfigMap, {
      transport,
      mapper,
      clock,
      streams,
      random: () => 0,
      list: "stream",
    });
    cleanup.defer(() => informer.stop());
    informer.start();
    return informer;
  };
  const informer = make();
  const opened = (count: number) => until(() => server.watches.length === count);
  const store = () =>
    Array.from(informer.store.values(), ({ metadata }) => `${metadata.name}@${metadata.resourceVersion}`).sort();
  return { server, clock, streams, informer, make, opened, store };
}

test("WL-01 one watch that asks for initial events, no list; synced by the end bookmark, and watching on", async () => {
  const { server, informer, opened, store } = await setUp();
  await opened(1);
  expect(Object.fromEntries(server.watch.request.query)).toEqual({
    watch: "true",
    allowWatchBookmarks: "true",
    sendInitialEvents: "true",
    resourceVersionMatch: "NotOlderThan",
    timeoutSeconds: "180",
  });
  server.watch.send(["ADDED", map("p1", 1)], ["ADDED", map("p2", 2)], bookmark(2, "true"));
  await until(() => informer.hasSynced);
  expect([store(), informer.resourceVersion, informer.state.kind]).toEqual([["p1@1", "p2@2"], "2", "watching"]);
  server.watch.send(["MODIFIED", map("p1", 3)]);
  await until(() => informer.resourceVersion === "3");
  expect([server.lists.length, server.watchRequests]).toEqual([0, 1]);
});

test("WL-02 WL-03 nothing is shown, and nothing synced, before the end bookmark; another bookmark is not the end", async () => {
  const { server, informer, opened, store } = await setUp();
  await opened(1);
  server.watch.send(["ADDED", map("p1", 1)], bookmark(1), bookmark(1, "false"));
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect([informer.hasSynced, store()]).toEqual([false, []]);
});

test("WL-04 changes and deletions during the list are part of it", async () => {
  const { server, informer, opened, store } = await setUp();
  await opened(1);
  server.watch.send(
    ["ADDED", map("p1", 1)],
    ["ADDED", map("p2", 2)],
    ["MODIFIED", map("p1", 3)],
    ["ADDED", map("p3", 4)],
    ["DELETED", map("p3", 5)],
    bookmark(5, "true"),
  );
  await until(() => informer.hasSynced);
  expect(store()).toEqual(["p1@3", "p2@2"]);
});

test("WL-05 a server that refuses is listed by pages, and that is remembered", async () => {
  const { server, informer, streams, make, store } = await setUp();
  server.onWatch = ({ query }) =>
    query.has("sendInitialEvents") ? refusal(422, "Invalid", "sendInitialEvents is forbidden") : undefined;
  await until(() => server.watches.length === 1);
  expect([informer.hasSynced, store(), server.lists.length, server.watchRequests]).toEqual([true, ["listed@7"], 1, 2]);
  expect(server.watch.request.query.get("resourceVersion")).toBe("7");
  expect(streams.reason(PATH)).toContain("sendInitialEvents is forbidden");
  const second = make();
  await until(() => second.hasSynced && server.watches.length === 2);
  expect([server.lists.length, server.watchRequests]).toEqual([2, 3]);
});

test("WL-06 a refusal for a time is waited out, and the list streamed after it", async () => {
  const { server, informer, clock, opened } = await setUp();
  server.onWatch = () => ({ ...refusal(429, "TooManyRequests", "later"), headers: { "retry-after": "1" } });
  await until(() => server.watchRequests === 1 && informer.state.kind === "unavailable");
  server.onWatch = () => undefined;
  await clock.advanceInTurns(1_000);
  await opened(1);
  expect([server.lists.length, server.watch.request.query.get("sendInitialEvents")]).toEqual([0, "true"]);
});

test("WL-07 a stream that ends before its end is opened again from the beginning, three times, then listed by pages", async () => {
  const { server, informer, clock, opened, streams } = await setUp();
  for (let round = 1; round <= 3; round++) {
    await opened(round);
    expect(server.watch.request.query.get("sendInitialEvents")).toBe("true");
    server.watch.send(["ADDED", map("p1", 1)]);
    server.watch.end();
    if (round === 3) break;
    await until(() => informer.state.kind === "unavailable");
    await clock.advanceInTurns(2_000);
  }
  await until(() => informer.hasSynced);
  expect([server.lists.length, streams.isUsable(PATH)]).toEqual([1, false]);
});

test("WL-08 a stream that ends after its end goes on as a plain watch from its version", async () => {
  const { server, informer, opened } = await setUp();
  await opened(1);
  server.watch.send(["ADDED", map("p1", 1)], bookmark(2, "true"), ["MODIFIED", map("p1", 3)]);
  await until(() => informer.resourceVersion === "3");
  server.watch.end();
  await opened(2);
  const { query } = server.watch.request;
  expect([query.get("resourceVersion"), query.has("sendInitialEvents"), server.lists.length]).toEqual(["3", false, 0]);
});

test("WL-10 an end bookmark that never comes: listed by pages within 10 s, at the start and for others after it", async () => {
  const { server, informer, clock, make, opened, store } = await setUp();
  await opened(1);
  server.watch.send(["ADDED", map("p1", 1)]);
  await clock.advanceInTurns(6_000);
  expect(informer.hasSynced).toBe(false);
  await clock.advanceInTurns(4_000);
  await until(() => informer.hasSynced);
  expect(store()).toEqual(["listed@7"]);
  const second = make();
  await until(() => second.hasSynced);
  expect(server.watches.every(({ request }, index) => index === 0 || !request.query.has("sendInitialEvents"))).toBe(
    true,
  );
});

test("WL-10 an end bookmark that never comes after a 410: listed by pages within 10 s", async () => {
  const { server, informer, clock, opened, store } = await setUp();
  await opened(1);
  server.watch.send(["ADDED", map("p1", 1)], bookmark(2, "true"));
  await until(() => informer.hasSynced);
  server.watch.send(["ERROR", refusal(410, "Expired", "too old").body]);
  await opened(2);
  expect(server.watch.request.query.get("sendInitialEvents")).toBe("true");
  await clock.advanceInTurns(10_000);
  await until(() => store()[0] === "listed@7");
});

test("a stream of more than a list may have is given up for pages, and no more of it is held", async () => {
  const { server, informer, streams, opened, store } = await setUp();
  await opened(1);
  const large = (round: number) => {
    const { metadata, ...rest } = map(`p${round % 2}`, round);
    return { ...rest, metadata: { ...metadata, annotations: { text: "x".repeat(2 ** 20) } } };
  };
  for (let round = 1; round <= 70 && streams.isUsable(PATH); round++) {
    server.watch.send(["MODIFIED", large(round)]);
    await Bun.sleep(1); // what was sent is read meanwhile
  }
  await until(() => informer.hasSynced);
  expect(streams.reason(PATH)).toBe(`Cannot list ${PATH} as a stream: it is larger than 64 MiB`);
  expect(store()).toEqual(["listed@7"]);
});
