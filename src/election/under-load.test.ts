/** Tests that the Lease has a connection of its own, so that no other request delays its renewal. */
import { expect, test } from "bun:test";
import { defaultDurations } from "../../tests/support/integration/election-world.ts";
import { LeaseServer } from "../../tests/support/integration/lease-server.ts";
import { type Handler, sendJson } from "../../tests/support/loopback-server.ts";
import { until } from "../../tests/support/until.ts";
import { watch } from "../kube/api/watch.ts";
import { createTransport } from "../kube/transport/transport.ts";
import { monotonic, sleep } from "../platform/clock.ts";
import { Elector } from "./elector.ts";
import { KubeLeaseLock } from "./lease-lock.ts";

const CONFIG_MAPS = "/api/v1/namespaces/default/configmaps";
/** Half of the usual durations: renewals are seconds apart, and a busy machine has seconds for each. */
const { leaseDuration, renewDeadline, retryPeriod } = defaultDurations;
const durations = { leaseDuration: leaseDuration / 2, renewDeadline: renewDeadline / 2, retryPeriod: retryPeriod / 2 };

/** Makes a leader with 300 open watches, on a server whose responses to writes the test controls. */
async function leader(write: Handler) {
  const cleanup = new AsyncDisposableStack();
  const watched = new Set<unknown>();
  const leases = cleanup.use(
    await LeaseServer.start(undefined, (request, reply) => {
      if (request.method !== "GET") return write(request, reply);
      watched.add(reply);
      reply.writeHead(200, { "content-type": "application/json" });
      reply.flushHeaders?.();
    }),
  );
  const transport = createTransport(leases.server.config, { switches: { http2: true } });
  cleanup.defer(() => transport.close());
  const stop = new AbortController();
  const open = Array.from({ length: 300 }, () =>
    watch(transport, {
      path: CONFIG_MAPS,
      resourceVersion: "1",
      timeoutSeconds: 300,
      idleTimeout: 300_000,
      signal: stop.signal,
      onEvent: () => {},
    }).catch(() => {}),
  );
  cleanup.defer(async () => {
    stop.abort();
    await Promise.all(open);
  });
  while (watched.size < 300) await sleep(5);

  const lock = new KubeLeaseLock(transport, { namespace: "default", name: "lock" });
  const renewals: number[] = [];
  const lost: string[] = [];
  const elector = new Elector({
    ...durations,
    lock: {
      name: lock.name,
      get: (call) => lock.get(call),
      create: (lease, call) => lock.create(lease, call),
      async update(lease, call) {
        const began = performance.now();
        const updated = await lock.update(lease, call);
        renewals.push(performance.now() - began);
        return updated;
      },
      watch: (from, onChange) => lock.watch(from, onChange),
    },
    identity: "us",
    clock: monotonic(),
    observer: { lost: (reason) => lost.push(reason) },
  });
  cleanup.defer(() => elector.stop());
  elector.start();
  while (!elector.isLeader) await sleep(1);
  return { transport, elector, renewals, lost, [Symbol.asyncDispose]: () => cleanup.disposeAsync() };
}

/** Sends so many writes per second for so long, whether or not responses arrive. */
async function writeFor(ms: number, perSecond: number, write: (index: number) => Promise<unknown>) {
  const began = performance.now();
  const under: Promise<unknown>[] = [];
  for (let sent = 0; sent < (ms / 1_000) * perSecond;) {
    const due = ((performance.now() - began) / 1_000) * perSecond;
    while (sent < due) under.push(write(sent++).catch(() => {}));
    await sleep(5);
  }
  return under;
}

test("Elector renews the Lease in time while 1,000 writes a second go out and 300 watches are open", async () => {
  let answered = 0;
  await using world = await leader(({ body }, reply) => {
    answered++;
    sendJson(reply, JSON.parse(body));
  });
  const { transport, elector, renewals, lost } = world;
  const under = await writeFor(6_000, 1_000, (index) =>
    transport.request({
      method: "PUT",
      path: `${CONFIG_MAPS}/one-${index % 100}`,
      body: { metadata: { name: "one" }, data: { index: String(index) } },
      gate: elector,
    }),
  );
  await until(() => renewals.length >= 2, { what: "renewals beside the writes" });
  await Promise.all(under);
  expect(under.length).toBeGreaterThanOrEqual(6_000);
  expect(answered).toBe(under.length);
  expect(lost).toEqual([]);
  expect(Math.max(...renewals)).toBeLessThan(durations.renewDeadline / 2);
}, 180_000);

test("Elector renews the Lease in time while thousands of writes get no answer", async () => {
  await using world = await leader(() => {});
  const { transport, elector, renewals, lost } = world;
  const over = new AbortController();
  const under = await writeFor(4_000, 500, (index) =>
    transport.request({
      method: "PUT",
      path: `${CONFIG_MAPS}/one-${index}`,
      body: { metadata: { name: "one" } },
      gate: elector,
      signal: over.signal,
    }),
  );
  await until(() => renewals.length >= 2, { what: "renewals beside the writes" });
  over.abort();
  await Promise.all(under);
  expect(lost).toEqual([]);
  expect(elector.isLeader).toBe(true);
  expect(Math.max(...renewals)).toBeLessThan(durations.renewDeadline / 2);
}, 180_000);
