/** A server that sends ever new objects, to a process whose memory is limited. */
import { afterEach, expect, test } from "bun:test";
import { InformerRegistry } from "../cache/informer-registry.ts";
import { RestMapper } from "../kube/api/mapper.ts";
import { createTransport } from "../kube/transport/transport.ts";
import { createLog } from "../observe/log.ts";
import { ConfigMap } from "../resource/builtin/index.ts";
import { eventually } from "../testing/eventually.ts";
import { FakeClock } from "../testing/fake-clock.ts";
import { listOf, ScriptedServer } from "../../tests/support/scripted-server.ts";
import { MemoryGuard } from "./memory-guard.ts";

const MIB = 2 ** 20;
/** What each object takes, in bytes; more than most do. */
const KEPT = 4_096;
let cleanup = new AsyncDisposableStack();
afterEach(async () => {
  await cleanup.disposeAsync();
  cleanup = new AsyncDisposableStack();
});

function map(number: number): object {
  const labels = { index: `i-${number}`, text: "x".repeat(500) };
  const metadata = {
    namespace: "ns",
    name: `n-${number}`,
    uid: `u-${number}`,
    resourceVersion: `${number + 2}`,
    labels,
  };
  return { apiVersion: "v1", kind: "ConfigMap", metadata };
}

/** An informer of a process with 128 MiB, of which 48 are in use besides its objects. */
async function start(onList: ScriptedServer["onList"]) {
  const server = cleanup.use(await ScriptedServer.start());
  server.onList = onList;
  const transport = createTransport(server.config);
  cleanup.defer(() => transport.close());
  const clock = new FakeClock();
  const log = createLog({ level: "error", format: "json", write: () => {} });
  const stored = (): number => informers.all().reduce((objects, { store }) => objects + store.size, 0);
  const memory = { other: 48 };
  const limit = { bytes: 128 * MIB, source: "memory.max", used: () => memory.other * MIB + stored() * KEPT };
  const room = cleanup.use(new MemoryGuard({ limit, log, clock, collect: () => {} }));
  const mapper = new RestMapper(transport);
  const informers = new InformerRegistry({ transport, mapper, log, clock, room, random: () => 0, list: "pages" });
  cleanup.defer(() => informers.stop());
  const { informer } = informers.acquire(ConfigMap, { needs: { bodies: "all", managers: [] }, user: "test" });
  return { server, clock, informer, memory, limit };
}

test("a watch that brings ever new objects ends before the memory does, says why, and goes on where it was", async () => {
  const { server, clock, informer, memory, limit } = await start(() => ({ body: listOf([], "1") }));
  await eventually(() => expect(server.watches).toHaveLength(1));
  const first = server.watch;
  let sent = 0;
  while (!first.closed && sent < 200_000) {
    first.send(...Array.from({ length: 500 }, (_, index) => ["ADDED", map(sent + index)] as const));
    sent += 500;
    await Bun.sleep(0);
  }
  expect(first.closed).toBe(true);
  expect(limit.used()).toBeLessThan(limit.bytes);
  await eventually(() => expect(informer.state.kind).toBe("unavailable"));
  expect(informer.state).toMatchObject({
    message: expect.stringMatching(/^There is no memory for more of the watch of \S+\/configmaps: the limit is nearly/),
  });
  expect(informer.hasSynced).toBe(true);

  memory.other = 8;
  const { size } = informer.store;
  clock.advance(1_000);
  await eventually(() => expect(server.watches).toHaveLength(2));
  expect(server.watch.request.query.get("resourceVersion")).toBe(informer.resourceVersion);
  server.watch.send(["ADDED", map(size)]);
  await eventually(() => expect(informer.store.size).toBe(size + 1));
  expect(server.lists).toHaveLength(1);
}, 20_000);

test("a list without end does so, too, after its first page", async () => {
  let page = 0;
  const { clock, informer, limit } = await start(() => {
    const items = Array.from({ length: 500 }, (_, index) => map(page * 500 + index));
    return { body: listOf(items, "1", `page-${++page}`) };
  });
  await eventually(() => {
    clock.advance(50); // a list waits a moment for room before each page
    expect(informer.state.kind).toBe("unavailable");
  });
  expect(informer.state).toMatchObject({ message: expect.stringContaining("no memory for more of the list of") });
  expect(limit.used()).toBeLessThan(limit.bytes);
}, 20_000);
