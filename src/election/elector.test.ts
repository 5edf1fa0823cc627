import { expect, test } from "bun:test";
import { createTransport } from "../kube/transport/transport.ts";
import { FakeClock } from "../testing/fake-clock.ts";
import { defaultDurations } from "../../tests/support/integration/election-world.ts";
import {
  LEASE_PATH as path,
  LEASES_PATH as collection,
  LeaseServer,
} from "../../tests/support/integration/lease-server.ts";
import type { ElectionDurations } from "./durations.ts";
import { Elector, type ElectorOptions } from "./elector.ts";
import type { Lease, LeaseSpec } from "./lease.ts";
import { KubeLeaseLock, type LeaseLock } from "./lease-lock.ts";
import { until } from "../../tests/support/until.ts";

async function setUp(options: { readonly spec?: LeaseSpec; readonly more?: Partial<ElectorOptions> } = {}) {
  const leases = await LeaseServer.start(options.spec);
  const clock = new FakeClock();
  const transport = createTransport(leases.server.config);
  const told: string[] = [];
  const elector = new Elector({
    ...defaultDurations,
    lock: new KubeLeaseLock(transport, { namespace: "default", name: "lock" }),
    identity: "us",
    clock,
    wall: clock,
    random: () => 0,
    observer: {
      observed: (holder) => told.push(`observed ${holder || "nobody"}`),
      acquired: () => told.push("acquired"),
      takenOver: (holder, wait) => told.push(`taken over from ${holder}, for ${wait}`),
      lost: (reason) => told.push(`lost: ${reason}`),
      slowPath: () => told.push("slow path"),
      failed: (_error, first) => first && told.push("failed"),
    },
    ...options.more,
  });
  return {
    leases,
    clock,
    elector,
    told,
    async [Symbol.asyncDispose]() {
      await elector.stop();
      await transport.close();
      await leases.server[Symbol.asyncDispose]();
    },
  };
}

/** Lets real requests complete while the elector's clock stands still. */
const held = (identity: string, seconds = 15): LeaseSpec => ({
  holderIdentity: identity,
  leaseDurationSeconds: seconds,
  acquireTime: "2020-01-01T00:00:00.000000Z",
  renewTime: "2020-01-01T00:00:00.000000Z",
  leaseTransitions: 0,
});

test("LE-01 Elector creates a Lease that is not there, with no transition", async () => {
  await using world = await setUp();
  const { elector, leases } = world;
  expect(elector.refused).toBe("this process is not the leader");
  elector.start();
  await until(() => elector.isLeader);
  expect(elector.refused).toBeUndefined();
  expect(leases.asked()).toEqual([`GET ${path}`, `POST ${collection}`]);
  expect(leases.lease?.spec).toMatchObject({ holderIdentity: "us", leaseDurationSeconds: 15, leaseTransitions: 0 });
  expect(leases.lease?.spec?.renewTime).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/);
});

test.each([{}, held("", 1)])(
  "LE-02 Elector takes a Lease that nobody has held, or that was released: %p",
  async (spec) => {
    await using world = await setUp({ spec });
    const { elector, leases } = world;
    elector.start();
    await until(() => elector.isLeader);
    expect(leases.asked()).toEqual([`GET ${path}`, `PUT ${path}`]);
    expect(leases.lease?.spec).toMatchObject({ holderIdentity: "us", leaseDurationSeconds: 15, leaseTransitions: 1 });
  },
);

test("LE-04 Elector takes a Lease that did not change for its duration by the local clock", async () => {
  await using world = await setUp({ spec: held("bing", 20) });
  const { elector, leases, clock, told } = world;
  elector.start();
  await until(() => leases.watches === 1);
  const watched = leases.server.requests.find(({ query }) => query.get("watch") === "true")!;
  expect([watched.path, watched.query.get("fieldSelector")]).toEqual([collection, "metadata.name=lock"]);
  expect(leases.asked()).toEqual([`GET ${path}`]);
  clock.advance(19_999);
  await Bun.sleep(20);
  expect(leases.asked()).toEqual([]);
  await clock.advanceInTurns(1);
  await until(() => elector.isLeader);
  expect(leases.asked()).toEqual([`GET ${path}`, `PUT ${path}`]);
  expect(leases.lease?.spec).toMatchObject({ holderIdentity: "us", leaseTransitions: 1 });
  expect(told).toEqual(["observed bing", "observed us", "acquired"]);
});

test("Elector does not take a Lease that is renewed while it waits", async () => {
  await using world = await setUp({ spec: held("bing", 3) });
  const { elector, leases, clock } = world;
  elector.start();
  await until(() => leases.watches === 1);
  for (let renewal = 0; renewal < 5; renewal++) {
    clock.advance(2_000);
    leases.put(held("bing", 3));
    await Bun.sleep(10);
  }
  expect(elector.isLeader).toBe(false);
  expect(leases.asked()).toEqual([`GET ${path}`]);
});

test("Elector takes over at once when the holder lets go", async () => {
  await using world = await setUp({ spec: held("bing") });
  const { elector, leases, clock } = world;
  elector.start();
  await until(() => leases.watches === 1);
  leases.put(held("", 1));
  // There is no jitter here, but a pause of 0 ms still takes a turn of the clock.
  await until(() => (clock.advance(0), elector.isLeader));
  expect(leases.asked()).toEqual([`GET ${path}`, `GET ${path}`, `PUT ${path}`]);
});

test("LE-05 Elector renews the Lease that it holds without reading it, with the transitions as they were", async () => {
  await using world = await setUp({ spec: { leaseTransitions: 7 } });
  const { elector, leases, clock } = world;
  elector.start();
  await until(() => elector.isLeader && clock.timers === 2);
  leases.asked();
  const { renewTime, acquireTime } = leases.lease!.spec!;
  await clock.advanceInTurns(2_000);
  await until(() => leases.lease?.spec?.renewTime !== renewTime);
  expect(leases.asked()).toEqual([`PUT ${path}`]);
  expect(leases.lease?.spec).toMatchObject({ holderIdentity: "us", leaseTransitions: 8, acquireTime });
});

test("Elector reads the Lease when it has changed under it, and goes on leading while it is the holder", async () => {
  await using world = await setUp();
  const { elector, leases, clock, told } = world;
  elector.start();
  await until(() => elector.isLeader && clock.timers === 2);
  leases.asked();
  leases.put(leases.lease!.spec!);
  await clock.advanceInTurns(2_000);
  await until(() => leases.server.requests.length === 3);
  expect(leases.asked()).toEqual([`PUT ${path}`, `GET ${path}`, `PUT ${path}`]);
  expect(told).toContain("slow path");
  expect(elector.isLeader).toBe(true);
});

test("Elector stops leading when somebody else took the Lease, and follows him", async () => {
  await using world = await setUp();
  const { elector, leases, clock, told } = world;
  const changes: boolean[] = [];
  elector.onChange((isLeader) => changes.push(isLeader));
  elector.start();
  await until(() => elector.isLeader && clock.timers === 2);
  leases.put(held("thief"));
  await clock.advanceInTurns(2_000);
  await until(() => !elector.isLeader);
  expect(elector.refused).toBe("leadership was lost: thief holds the Lease");
  expect(changes).toEqual([true, false]);
  expect(told).toContain("lost: thief holds the Lease");
  await until(() => leases.watches === 1);
  leases.put(held("", 1));
  // There is no jitter here, but a pause of 0 ms still takes a turn of the clock.
  await until(() => (clock.advance(0), elector.isLeader));
});

test("Elector refuses writes at the renew deadline, before any timer has run, and leads again when the server answers", async () => {
  await using world = await setUp();
  const { elector, leases, clock } = world;
  elector.start();
  await until(() => elector.isLeader && clock.timers === 2);
  const release = Promise.withResolvers<void>();
  leases.hold = release.promise;
  const changes: boolean[] = [];
  elector.onChange((isLeader) => changes.push(isLeader));
  // This is what a process sees when it wakes: time has passed, and no timer has run yet.
  const now = clock.now.bind(clock);
  clock.now = () => now() + 10_000;
  expect(elector.refused).toBe("leadership was lost: the Lease was not renewed within 10s");
  expect(changes).toEqual([false]);
  leases.hold = undefined;
  release.resolve();
  await until(() => elector.isLeader);
  expect(leases.lease?.spec).toMatchObject({ holderIdentity: "us", leaseTransitions: 0 });
});

test("LE-07 Elector releases the Lease at the end, again when it changed meanwhile", async () => {
  await using world = await setUp();
  const { elector, leases } = world;
  elector.start();
  await until(() => elector.isLeader);
  leases.asked();
  leases.conflicts = 1;
  await elector.stop();
  expect(leases.asked()).toEqual([`GET ${path}`, `PUT ${path}`, `GET ${path}`, `PUT ${path}`]);
  expect(leases.lease?.spec).toMatchObject({ holderIdentity: "", leaseDurationSeconds: 1, leaseTransitions: 0 });
  expect(elector.refused).toBe("leadership was lost: the process gave it up");
});

test("LE-08 Elector releases the Lease when it is stopped while it renews", async () => {
  await using world = await setUp();
  const { elector, leases, clock } = world;
  elector.start();
  await until(() => elector.isLeader && clock.timers === 2);
  leases.asked();
  const release = Promise.withResolvers<void>();
  leases.hold = release.promise;
  await clock.advanceInTurns(2_000);
  await until(() => leases.server.requests.length === 1);
  const stopped = elector.stop();
  leases.hold = undefined;
  release.resolve();
  await stopped;
  expect(leases.lease?.spec?.holderIdentity).toBe("");
});

test("Elector tries again to release the Lease when the server does not do it", async () => {
  await using world = await setUp();
  const { elector, leases, clock } = world;
  elector.start();
  await until(() => elector.isLeader && clock.timers === 2);
  leases.asked();
  leases.broken = 1;
  let isOver = false;
  const stopped = elector.stop().then(() => (isOver = true));
  await until(() => (clock.advance(50), isOver));
  await stopped;
  expect(leases.lease?.spec?.holderIdentity).toBe("");
});

test("Elector lets go of a Lease that it does not lead by, when the answer is late", async () => {
  await using world = await setUp();
  const { elector, leases, clock } = world;
  elector.start();
  await until(() => elector.isLeader && clock.timers === 2);
  leases.asked();
  const late = Promise.withResolvers<void>();
  leases.hold = late.promise;
  await clock.advanceInTurns(10_000);
  await until(() => !elector.isLeader);
  // On the server the Lease is still ours, and it is read.
  await until(() => leases.server.requests.some(({ method }) => method === "GET"));
  clock.advance(2_001);
  leases.hold = undefined;
  late.resolve();
  await until(() => leases.lease?.spec?.holderIdentity === "");
  expect(elector.isLeader).toBe(false);
  // Nobody else wants the Lease.
  await until(() => (clock.advance(100), elector.isLeader));
  expect(leases.lease?.spec?.holderIdentity).toBe("us");
});

test("Elector does not lead when it is stopped at the moment at which it is granted the Lease", async () => {
  const asked = Promise.withResolvers<Lease>();
  const granted = Promise.withResolvers<Lease>();
  const lock: LeaseLock = {
    name: { namespace: "default", name: "lock" },
    get: async () => undefined,
    create: (lease) => (asked.resolve(lease), granted.promise),
    update: async (lease) => lease,
    watch: () => new Promise(() => {}),
  };
  await using world = await setUp({ more: { lock } });
  const { elector } = world;
  const changes: boolean[] = [];
  elector.onChange((isLeader) => changes.push(isLeader));
  elector.start();
  granted.resolve(await asked.promise);
  await elector.stop();
  expect(elector.refused).toBeDefined();
  expect(changes.at(-1)).not.toBe(true);
});

test("Elector leaves the Lease as it is when it is told not to release it", async () => {
  await using world = await setUp({ more: { release: false } });
  const { elector, leases } = world;
  elector.start();
  await until(() => elector.isLeader);
  await elector.stop();
  expect(leases.lease?.spec?.holderIdentity).toBe("us");
});

test("Elector that never led leaves the Lease of another alone", async () => {
  await using world = await setUp({ spec: held("bing") });
  const { elector, leases } = world;
  elector.start();
  await until(() => leases.watches === 1);
  leases.asked();
  await elector.stop();
  expect(leases.asked()).toEqual([]);
  expect(leases.lease?.spec?.holderIdentity).toBe("bing");
});

test("Elector renews the Lease at the pace of the retry period, which varies so that replicas do not renew together", async () => {
  let random = 0;
  await using leading = await setUp({ more: { retryPeriod: 3_000, random: () => random } });
  const { elector, leases, clock } = leading;
  elector.start();
  await until(() => elector.isLeader && clock.timers === 2);
  for (const [pause, next] of [
    [2_700, 0.99],
    [3_294, 0.5],
    [3_000, 0.25],
    [2_850, 0],
  ] as const) {
    leases.asked();
    random = next;
    await clock.advanceInTurns(pause - 1);
    await Bun.sleep(5);
    expect(leases.asked()).toEqual([]);
    await clock.advanceInTurns(1);
    await until(() => leases.server.requests.length === 1 && clock.timers === 2);
  }
  expect(elector.isLeader).toBe(true);
});

test("Elector leads on through seconds in which the server is frozen, whenever they begin", async () => {
  for (const since of [0, 1_000, 1_999]) {
    await using world = await setUp();
    const { elector, leases, clock } = world;
    elector.start();
    await until(() => elector.isLeader && clock.timers === 2);
    await clock.advanceInTurns(since);
    const frozen = Promise.withResolvers<void>();
    leases.hold = frozen.promise;
    for (let second = 0; second < 7; second++) {
      await clock.advanceInTurns(1_000);
      expect(elector.isLeader).toBe(true);
    }
    leases.hold = undefined;
    const { renewTime } = leases.lease!.spec!;
    frozen.resolve();
    await until(() => leases.lease?.spec?.renewTime !== renewTime);
    expect(elector.isLeader).toBe(true);
  }
});

const wrong: readonly (readonly [Partial<ElectionDurations>, RegExp])[] = [
  [{ leaseDuration: 10_000 }, /the lease duration \(10000ms\) must be longer than the renew deadline \(10000ms\)/],
  [{ renewDeadline: 2_400 }, /the renew deadline \(2400ms\) must be longer than 1.2 times the retry period \(2000ms\)/],
  [{ retryPeriod: 0 }, /the retry period must be longer than 0, and is 0ms/],
  [{ leaseDuration: 500 }, /the lease duration must be at least 1s, and is 500ms/],
];

test.each(wrong)("Elector refuses durations that do not fit each other: %p", (durations, message) => {
  const lock = new KubeLeaseLock({} as never, { namespace: "default", name: "lock" });
  const make = () => new Elector({ ...defaultDurations, ...durations, lock, identity: "us", clock: new FakeClock() });
  expect(make).toThrow(message);
});

test("Elector takes a Lease from a holder who renews it when that is wished, and leads when that one can write no more", async () => {
  await using world = await setUp({ spec: held("bing"), more: { takesOverFrom: (holder) => holder === "bing" } });
  const { elector, leases, clock, told } = world;
  elector.start();
  await until(() => leases.lease?.spec?.holderIdentity === "us");
  expect([elector.isLeader, elector.refused]).toEqual([false, "this process is not the leader"]);
  await until(() => told.includes("taken over from bing, for 15000"));
  // It is renewed meanwhile, so that nobody else takes it.
  for (let second = 2; second < 15; second += 2) {
    const { renewTime } = leases.lease!.spec!;
    await until(() => clock.timers === 1);
    await clock.advanceInTurns(2_000);
    await until(() => leases.lease?.spec?.renewTime !== renewTime);
    expect(elector.isLeader).toBe(false);
  }
  await until(() => clock.timers === 1);
  await clock.advanceInTurns(1_000);
  await until(() => elector.isLeader && clock.timers === 2);
  // Once it has led, it takes nothing from anybody: whoever takes the Lease then was told to.
  leases.put(held("bing"));
  await clock.advanceInTurns(2_000);
  await until(() => !elector.isLeader && leases.watches === 1);
  expect(leases.lease?.spec?.holderIdentity).toBe("bing");
});

test("Elector leads by a Lease that it has taken over, although the first answer was late", async () => {
  await using world = await setUp({ spec: held("bing"), more: { takesOverFrom: () => true } });
  const { elector, leases, clock, told } = world;
  const late = Promise.withResolvers<void>();
  leases.hold = late.promise;
  elector.start();
  await until(() => leases.server.requests.length === 1);
  clock.advance(2_001); // as when the event loop is blocked for so long
  leases.hold = undefined;
  late.resolve();
  for (let waited = 0; waited < 15_000; waited += 2_000) {
    await until(() => told.some((line) => line.startsWith("taken over")) && clock.timers === 1);
    await clock.advanceInTurns(2_000);
  }
  await until(() => elector.isLeader || leases.lease?.spec?.holderIdentity === "");
  expect([elector.isLeader, leases.lease?.spec?.holderIdentity]).toEqual([true, "us"]);
});

test("Elector does not lead early because a renewal fails while it outlasts the holder before it", async () => {
  await using world = await setUp({ spec: held("bing", 5), more: { takesOverFrom: () => true } });
  const { elector, leases, clock, told } = world;
  elector.start();
  await until(() => told.some((line) => line.startsWith("taken over")) && clock.timers === 1);
  leases.put(leases.lease!.spec!); // it is read anew
  await clock.advanceInTurns(2_000);
  await until(() => told.includes("slow path"));
  expect(elector.isLeader).toBe(false);
  await elector.stop();
  expect(leases.lease?.spec?.holderIdentity).toBe("");
});

test("Elector takes a Lease over only from whom it may", async () => {
  await using world = await setUp({
    spec: held("dev_bing"),
    more: { takesOverFrom: (one) => !one.startsWith("dev_") },
  });
  const { elector, leases } = world;
  elector.start();
  await until(() => leases.watches === 1);
  expect(leases.lease?.spec?.holderIdentity).toBe("dev_bing");
});

test("Elector that steps down lets another candidate lead, and leads again when there is none", async () => {
  await using world = await setUp();
  const { elector, leases, clock, told } = world;
  elector.start();
  await until(() => elector.isLeader && clock.timers === 2);
  elector.stepDown("its module drains");
  expect([elector.isLeader, told.at(-1)]).toEqual([false, "lost: its module drains"]);
  await until(() => leases.lease?.spec?.holderIdentity === "" && clock.timers === 1);
  await clock.advanceInTurns(2_000);
  await until(() => elector.isLeader && clock.timers === 2);
  elector.stepDown("its module drains");
  await until(() => leases.lease?.spec?.holderIdentity === "" && clock.timers === 1);
  leases.put(held("bing"));
  await clock.advanceInTurns(2_000);
  await until(() => leases.watches === 1);
  expect([elector.isLeader, leases.lease?.spec?.holderIdentity]).toEqual([false, "bing"]);
});
