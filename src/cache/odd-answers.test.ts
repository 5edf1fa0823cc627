/** Informers of servers whose answers are not what they should be. */
import { afterEach, expect, test } from "bun:test";
import { RestMapper } from "../kube/api/mapper.ts";
import { createTransport } from "../kube/transport/transport.ts";
import { handle } from "../resource/handle.ts";
import { FakeClock } from "../testing/fake-clock.ts";
import { listOf, type ScriptedAnswer, ScriptedServer } from "../../tests/support/scripted-server.ts";
import { until } from "../../tests/support/until.ts";
import { SharedInformer } from "./shared-informer.ts";

const ConfigMap = handle({ apiVersion: "v1", kind: "ConfigMap", scope: "Namespaced", plural: "configmaps" });
let cleanup = new AsyncDisposableStack();
afterEach(async () => {
  await cleanup.disposeAsync();
  cleanup = new AsyncDisposableStack();
});

function map(name: unknown, more: object = {}): object {
  return {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name, namespace: "ns", uid: "u", resourceVersion: "1", ...more },
  };
}

async function setUp(onList: (token: string | null) => ScriptedAnswer["body"]) {
  const server = cleanup.use(await ScriptedServer.start());
  server.onList = ({ query }) => ({ body: onList(query.get("continue")) });
  const transport = createTransport(server.config);
  cleanup.defer(() => transport.close());
  const clock = new FakeClock();
  const warnings: string[] = [];
  const note = (message: string, fields?: object): void => void warnings.push(`${message} ${JSON.stringify(fields)}`);
  const informer = new SharedInformer(ConfigMap, {
    transport,
    mapper: new RestMapper(transport),
    log: { debug() {}, info: note, warn: note, error: note },
    random: () => 0,
    freeze: true,
    clock,
  });
  cleanup.defer(() => informer.stop());
  informer.start();
  return { server, informer, clock, warnings };
}

test.each([
  ["no metadata.resourceVersion", { metadata: {} }, "the list has no metadata.resourceVersion"],
  ["a version that is a number", { metadata: { resourceVersion: 5 } }, "metadata.resourceVersion is no string"],
  ["no metadata", { metadata: undefined }, "the list has no metadata.resourceVersion"],
  ["metadata that are a list", { metadata: [] }, "metadata is no object"],
  ["items that are an object", { items: {} }, "items is no list"],
  ["no kind", { kind: undefined }, "it has no apiVersion and kind"],
  ["a token that is a number", { metadata: { resourceVersion: "1", continue: 7 } }, "metadata.continue is no string"],
  [
    "a token that is huge",
    { metadata: { resourceVersion: "1", continue: "x".repeat(10_000) } },
    "a token has more than 8192 characters",
  ],
])("a list with %s makes the informer back off, say so once, and be unavailable", async (_, wrong, message) => {
  const kit = await setUp(() => ({ ...listOf([map("a")], "1"), ...wrong }));
  const { server, informer, clock, warnings } = kit;
  await until(() => informer.state.kind === "unavailable");
  expect(informer.state).toMatchObject({ message: expect.stringContaining(message) as string });
  expect(informer.hasSynced).toBe(false);
  expect(informer.store.size).toBe(0);
  for (let second = 0; second < 20; second++) {
    await clock.advanceInTurns(1_000);
    await Bun.sleep(2);
  }
  // 0.4, 0.8, 1.6, 3.2, 6.4, 12.8 s between them.
  expect(server.lists.length).toBeGreaterThan(2);
  expect(server.lists.length).toBeLessThan(9);
  expect(warnings.filter((line) => line.startsWith("Cannot watch"))).toHaveLength(1);
  server.onList = () => ({ body: listOf([map("a")], "1") });
  await clock.advanceInTurns(30_000);
  await until(() => informer.hasSynced);
});

test.each([
  ["names itself", () => "again"],
  ["goes in a circle", (token: string | null) => String((Number(token) + 1) % 5)],
])("a list whose token %s ends, and is tried again later", async (_, next) => {
  const { server, informer } = await setUp((token) => listOf([map("a")], "1", next(token)));
  await until(() => informer.state.kind === "unavailable");
  expect(informer.state).toMatchObject({
    message: expect.stringContaining("the list does not end: a page names one before it") as string,
  });
  expect(server.lists.length).toBeLessThan(30);
});

test("a list of empty pages ends", async () => {
  let page = 0;
  const { server, informer } = await setUp(() => listOf([], "1", `token-${page++}`));
  await until(() => informer.state.kind === "unavailable");
  expect(informer.state).toMatchObject({
    message: expect.stringContaining("11 pages in a row have no items") as string,
  });
  expect(server.lists).toHaveLength(11);
});

test("an object that is malformed costs itself, in a list and in a watch, and is named once", async () => {
  const odd = [null, 5, "x", {}, map(undefined), map("bad", { labels: [] }), map("bad", { ownerReferences: [null] })];
  const { server, informer, warnings } = await setUp(() => listOf([map("a"), ...(odd as object[]), map("b")], "1"));
  await until(() => informer.hasSynced && server.watches.length > 0);
  expect([...informer.store.keys()].toSorted()).toEqual(["ns/a", "ns/b"]);
  server.watch.send(
    ["MODIFIED", map("a", { annotations: 7, resourceVersion: "2" })],
    ["MODIFIED", map("a", { annotations: 7, resourceVersion: "2" })],
    ["SURPRISE", map("a", { resourceVersion: "3" })],
    ["ADDED", map("c", { resourceVersion: "4" })],
  );
  await until(() => informer.store.get("ns/c") !== undefined);
  expect(informer.state.kind).toBe("watching");
  expect(informer.store.get("ns/a")?.metadata.resourceVersion).toBe("1");
  const told = warnings.filter((line) => line.startsWith("Ignoring a malformed object that the server shows"));
  expect(told).toHaveLength(9);
  expect(told.filter((line) => line.includes("metadata.annotations is a number"))).toHaveLength(1);
  expect(told.at(-1)).toContain('the event\'s type is \\"SURPRISE\\"');
});

test.each([undefined, ""])("an object whose version is %p costs itself, in a list and in a watch", async (none) => {
  const without = (name: string): object => map(name, { resourceVersion: none });
  const { server, informer, warnings } = await setUp(() => listOf([map("a"), without("b"), map("c")], "1"));
  await until(() => informer.hasSynced && server.watches.length > 0);
  expect([...informer.store.keys()]).toEqual(["ns/a", "ns/c"]);
  server.watch.send(
    ["MODIFIED", without("a")],
    ["DELETED", without("c")],
    ["BOOKMARK", { kind: "ConfigMap", apiVersion: "v1", metadata: { resourceVersion: none } }],
    ["ADDED", map("d", { resourceVersion: "4" })],
  );
  await until(() => informer.store.get("ns/d") !== undefined);
  expect([...informer.store.keys()]).toEqual(["ns/a", "ns/c", "ns/d"]);
  expect([server.lists.length, server.watchRequests]).toEqual([1, 1]);
  const what = none === undefined ? "missing" : "empty";
  const told = warnings.filter((line) => line.includes(`metadata.resourceVersion is ${what}`));
  expect(told.map((line) => /"object":"([^"]*)"/.exec(line)?.[1])).toEqual(["ns/b", "ns/a", "ns/c", undefined]);
});

test("white space between the events of a watch means nothing", async () => {
  const { server, informer, warnings } = await setUp(() => listOf([], "1"));
  await until(() => server.watches.length > 0);
  const added = (name: string, version: string): string =>
    JSON.stringify({ type: "ADDED", object: map(name, { resourceVersion: version }) });
  server.watch.sendText(`\n \r\n\t\n${added("a", "2")}\r\n\n   \n  ${added("b", "3")}  \n \n`);
  await until(() => informer.store.get("ns/b") !== undefined);
  server.watch.send(["ADDED", map("c", { resourceVersion: "4" })]);
  await until(() => informer.store.get("ns/c") !== undefined);
  expect([server.lists.length, server.watchRequests, warnings]).toEqual([1, 1, []]);
});
