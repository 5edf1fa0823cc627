/** What a candidate makes of a Lease that others edit. */
import { expect, test } from "bun:test";
import { defaultDurations } from "../../tests/support/integration/election-world.ts";
import { LeaseServer } from "../../tests/support/integration/lease-server.ts";
import { until } from "../../tests/support/until.ts";
import { createTransport } from "../kube/transport/transport.ts";
import { FakeClock } from "../testing/fake-clock.ts";
import { Elector } from "./elector.ts";
import { KubeLeaseLock } from "./lease-lock.ts";
import type { LeaseSpec } from "./lease.ts";

/** A holder who has renewed the Lease at least once. */
const held = (holderIdentity: string, more: LeaseSpec = {}): LeaseSpec => ({
  holderIdentity,
  leaseDurationSeconds: 15,
  acquireTime: "2020-01-01T00:00:00.000000Z",
  renewTime: "2020-01-01T00:00:02.000000Z",
  leaseTransitions: 0,
  ...more,
});

/** Two candidates, of which the first one leads unless there is a Lease already. */
async function setUp(spec?: LeaseSpec) {
  const cleanup = new AsyncDisposableStack();
  const leases = cleanup.use(await LeaseServer.start(spec));
  const clock = new FakeClock();
  const told: string[] = [];
  const candidate = (identity: string): Elector => {
    const transport = createTransport(leases.server.config);
    const elector = new Elector({
      ...defaultDurations,
      lock: new KubeLeaseLock(transport, { namespace: "default", name: "lock" }),
      identity,
      clock,
      wall: clock,
      random: () => 0.5,
      observer: { lost: (reason) => told.push(`${identity} lost: ${reason}`) },
    });
    cleanup.defer(() => transport.close());
    cleanup.defer(() => elector.stop());
    return elector;
  };
  const first = candidate("first");
  const second = candidate("second");
  /** Lets time pass. @returns who could write at some moment of it. */
  const pass = async (ms: number): Promise<string[]> => {
    const writers = new Set<string>();
    for (let passed = 0; passed < ms; passed += 500) {
      await clock.advanceInTurns(500);
      await Bun.sleep(4);
      if (first.isLeader) writers.add("first");
      if (second.isLeader) writers.add("second");
      expect(first.isLeader && second.isLeader).toBe(false);
    }
    return [...writers];
  };
  return { leases, clock, told, first, second, pass, [Symbol.asyncDispose]: () => cleanup.disposeAsync() };
}

async function leading(world: Awaited<ReturnType<typeof setUp>>): Promise<void> {
  const { first, second, leases, clock } = world;
  first.start();
  await until(() => first.isLeader && clock.timers === 2);
  second.start();
  await until(() => leases.watches === 1);
}

test("Elector leads on when somebody deletes its Lease, and nobody else begins", async () => {
  await using world = await setUp();
  await leading(world);
  world.leases.remove();
  expect(await world.pass(20_000)).toEqual(["first"]);
  expect(world.leases.lease?.spec).toMatchObject({ holderIdentity: "first", leaseTransitions: 0 });
  expect(world.told).toEqual([]);
});

test("Elector leads on when somebody empties the holder, and nobody else begins", async () => {
  await using world = await setUp();
  await leading(world);
  await world.pass(4_000);
  world.leases.put({ ...world.leases.lease!.spec, holderIdentity: "" });
  expect(await world.pass(20_000)).toEqual(["first"]);
  expect(world.leases.lease?.spec?.holderIdentity).toBe("first");
  // The accident leaves nothing behind: a release is one.
  await world.first.stop();
  expect(await world.pass(1_000)).toEqual(["second"]);
});

const edits: readonly (readonly [string, LeaseSpec | undefined, number])[] = [
  ["is deleted", undefined, 20_000],
  ["loses its holder", held(""), 15_000],
  ["loses its whole content", {}, 15_000],
  ["gets the name of a candidate", held("second"), 15_000],
  ["gets a duration of a second", held("gone", { leaseDurationSeconds: 1 }), 15_000],
  ["gets a duration of decades", held("gone", { leaseDurationSeconds: 2 ** 31 - 1 }), 60_000],
  ["gets as many transitions as there can be", held("gone", { leaseTransitions: 2 ** 31 - 1 }), 15_000],
  ["gets times of another century", held("gone", { renewTime: "2199-01-01T00:00:00.000000Z" }), 15_000],
];

test.each(edits)("Elector outlasts the holder whose Lease %s", async (_what, spec, lasts) => {
  await using world = await setUp(held("gone"));
  const { second, leases, pass } = world;
  second.start();
  await until(() => leases.watches === 1);
  expect(await pass(3_000)).toEqual([]);
  if (spec === undefined) leases.remove();
  else leases.put(spec);
  expect(await pass(lasts - 1_000)).toEqual([]);
  expect(await pass(3_000)).toEqual(["second"]);
  expect(leases.lease?.spec?.holderIdentity).toBe("second");
  expect(leases.lease?.spec?.leaseTransitions ?? 0).toBeLessThan(2 ** 31);
});

test("Elector finds its name in a Lease that it did not write, and does not lead by it", async () => {
  await using world = await setUp();
  await leading(world);
  world.leases.put({ ...world.leases.lease!.spec, holderIdentity: "second" });
  expect(await world.pass(2_500)).toEqual(["first"]);
  expect(world.told).toEqual(["first lost: second holds the Lease"]);
  expect(await world.pass(11_500)).toEqual([]);
  expect(await world.pass(4_000)).toHaveLength(1);
});

test("Elector prints the beginning of a holder of 300 kB", async () => {
  await using world = await setUp();
  await leading(world);
  world.leases.put(held("x".repeat(300_000)));
  await world.pass(2_500);
  expect(world.told).toEqual([`first lost: ${"x".repeat(128)}… (300000 characters) holds the Lease`]);
});

test("Elector that stops while it outlasts another holder leaves a Lease that nobody takes for released", async () => {
  await using world = await setUp(held("gone"));
  const { second, leases, pass, clock } = world;
  second.start();
  await until(() => leases.watches === 1);
  leases.remove();
  await pass(8_000);
  expect(leases.lease?.spec?.holderIdentity).toBe("second");
  await second.stop();
  expect(leases.lease?.spec?.holderIdentity).toBe("");
  world.first.start();
  await until(() => leases.watches === 2 && clock.timers >= 1);
  expect(await pass(12_000)).toEqual([]);
  expect(await pass(5_000)).toEqual(["first"]);
});
