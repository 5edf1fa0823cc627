import { expect, test } from "bun:test";
import { InformerRegistry } from "../cache/informer-registry.ts";
import { RestMapper } from "../kube/api/mapper.ts";
import { createTransport } from "../kube/transport/transport.ts";
import { Pod } from "../resource/builtin/index.ts";
import { groupKind } from "../resource/handle.ts";
import { FakeClock } from "../testing/fake-clock.ts";
import { listOf, refusal, type ScriptedAnswer, ScriptedServer } from "../../tests/support/scripted-server.ts";
import { until } from "../../tests/support/until.ts";
import { clientCore, KubeClient } from "./kube-client.ts";
import { Permissions } from "./permissions.ts";
import { openGate } from "../kube/transport/write-gate.ts";

const AT = { name: "a", namespace: "ns" };

function pod(resourceVersion: string, labels: Record<string, string> = {}) {
  return { apiVersion: "v1", kind: "Pod", metadata: { ...AT, uid: "u", resourceVersion, labels } };
}

/** A server that lists one pod, and answers writes one by one as the test says. */
async function setUp(cleanup: AsyncDisposableStack, rate?: { qps: number; burst: number }) {
  const server = cleanup.use(await ScriptedServer.start());
  const clock = new FakeClock();
  const transport = createTransport(server.config, { clock, rate });
  cleanup.defer(() => transport.close());
  const mapper = new RestMapper(transport);
  const log = { debug() {}, info() {}, warn() {}, error() {} };
  const informers = new InformerRegistry({ transport, mapper, log, clock });
  cleanup.defer(() => informers.stop());
  const { informer } = informers.acquire(Pod, { needs: { bodies: "all", managers: [] }, user: "test" });
  const told: string[] = [];
  const tell = (version: string, origin: string | undefined) => void told.push(`${version} ${origin ?? "foreign"}`);
  informer.addHandler(
    {
      onAdd: ({ metadata }, { origin }) => tell(metadata.resourceVersion, origin),
      onUpdate: ({ metadata }, _, { origin }) => tell(metadata.resourceVersion, origin),
      onDelete: ({ metadata }, { origin }) => tell(`-${metadata.resourceVersion}`, origin),
    },
    { name: "test" },
  );
  const core = clientCore({
    transport,
    mapper,
    informers,
    manager: "test",
    declared: new Map([[groupKind(Pod), [informer]]]),
    permissions: new Permissions(),
    onUndeclared: undefined,
  });
  const client = new KubeClient(core, { gate: openGate, requestSignal: undefined, origin: "me" });
  /** The gate of a run, which closes when the run is cut off. */
  const gate: { refused: string | undefined } = { refused: undefined };
  const gated = new KubeClient(core, { gate, requestSignal: undefined, origin: "me" });
  const attempts: PromiseWithResolvers<ScriptedAnswer>[] = [];
  server.onList = ({ path }) => {
    if (!path.endsWith("/a")) return { body: listOf([pod("1")], "1") };
    const attempt = Promise.withResolvers<ScriptedAnswer>();
    attempts.push(attempt);
    return attempt.promise;
  };
  await until(() => server.watches.length === 1 && informer.hasSynced);
  told.length = 0;
  /** What a read through the cache shows. */
  const read = async () => (await client.find(Pod, AT))?.metadata.resourceVersion;
  /** Sends an event, and one of another object after it, so that the first has arrived when this resolves. */
  let after = 1_000;
  const event = async (version: string) => {
    const other = { ...pod(String(++after)), metadata: { ...pod(String(after)).metadata, name: "b", uid: "b" } };
    server.watch.send(["MODIFIED", pod(version)], ["MODIFIED", other]);
    await until(() => informer.store.get("ns/b")?.metadata.resourceVersion === String(after));
  };
  const took = () => told.splice(0).filter((one) => !/^1\d\d\d /.test(one));
  return { server, transport, clock, client, gate, gated, informer, attempts, read, event, took };
}

const busy: ScriptedAnswer = { ...refusal(429, "TooManyRequests", "later"), headers: { "retry-after": "1" } };

test("what a run has written that was cut off meanwhile is news to its key", async () => {
  await using cleanup = new AsyncDisposableStack();
  const { gate, gated, attempts, took } = await setUp(cleanup);
  const writing = gated.patch(Pod, AT, { type: "merge", body: { metadata: { labels: { by: "us" } } } });
  await until(() => attempts.length === 1);
  gate.refused = "the run was cut off";
  attempts[0]!.resolve({ body: pod("2", { by: "us" }) });
  await writing;
  expect(took()).toEqual(["2 "]); // it has an origin that no key takes for its own
});

test("the requests of a run that was cut off are aborted, and their events are not held any more", async () => {
  await using cleanup = new AsyncDisposableStack();
  const { transport, client, gate, gated, attempts, event, took } = await setUp(cleanup);
  const writing = gated.patch(Pod, AT, { type: "merge", body: { metadata: { labels: { by: "us" } } } });
  const other = client.patch(Pod, AT, { type: "merge", body: { metadata: { labels: { by: "others" } } } });
  await until(() => attempts.length === 2);
  gate.refused = "the run was cut off";
  transport.abortRefused();
  expect(String(await writing.catch(String))).toContain("the run was cut off");
  // On the same connection; which of the two arrived first is not known, and nobody waits for the aborted one.
  for (const attempt of attempts) attempt.resolve({ body: pod("2") });
  await other;
  await event("3");
  expect(took()).toEqual(["2 me", "3 foreign"]);
});

test("the events of a key are held while an attempt to write it is under way, not while the next one is waited for", async () => {
  await using cleanup = new AsyncDisposableStack();
  const { clock, client, attempts, read, event, took } = await setUp(cleanup);
  const writing = client.patch(Pod, AT, { type: "merge", body: { metadata: { labels: { by: "us" } } } });
  let version = 1;
  for (let attempt = 0; attempt < 4; attempt++) {
    await until(() => attempts.length === attempt + 1);
    const before = String(version);
    const held = String(++version);
    await event(held);
    expect([await read(), took()]).toEqual([before, []]);
    const timers = clock.timers;
    attempts[attempt]!.resolve(busy);
    await until(() => clock.timers > timers);
    expect([await read(), took()]).toEqual([held, [`${held} foreign`]]);
    const free = String(++version);
    await event(free);
    expect([await read(), took()]).toEqual([free, [`${free} foreign`]]);
    clock.advance(1_000);
  }
  await until(() => attempts.length === 5);
  const ours = String(version + 1);
  await event(ours);
  expect(took()).toEqual([]);
  attempts[4]!.resolve({ body: pod(ours, { by: "us" }) });
  expect((await writing).metadata.resourceVersion).toBe(ours);
  expect([await read(), took()]).toEqual([ours, [`${ours} me`]]);
});

test("the events of a key are not held while its write waits for its turn, nor after it was given up there", async () => {
  await using cleanup = new AsyncDisposableStack();
  const { client, attempts, read, event, took } = await setUp(cleanup, { qps: 0.01, burst: 3 });
  const gone = new AbortController();
  // The list and the watch, or discovery, have had theirs.
  const writes = [1, 2, 3].map(() =>
    client.patch(Pod, AT, { type: "merge", body: {} }, { signal: gone.signal }).catch(() => undefined),
  );
  await until(() => attempts.length > 0);
  await Bun.sleep(100); // how many may be sent depends on what was asked before: these are all of them
  expect(attempts.length).toBeLessThan(3);
  const sent = attempts.length;
  for (const attempt of attempts) attempt.resolve(refusal(409, "Conflict", "changed"));
  await Promise.all(writes.slice(0, sent));
  await event("2");
  expect([await read(), took()]).toEqual(["2", ["2 foreign"]]);
  gone.abort();
  await Promise.all(writes);
  await event("3");
  expect([await read(), took()]).toEqual(["3", ["3 foreign"]]);
});
