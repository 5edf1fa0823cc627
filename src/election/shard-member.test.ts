import { expect, test } from "bun:test";
import { defaultDurations, Machine, World } from "../../tests/support/integration/election-world.ts";
import { LeaseServer, SimulatedLeases } from "../../tests/support/integration/shard-world.ts";
import { SLOTS } from "../cache/slots.ts";
import { ShardMember } from "./shard-member.ts";

class Group {
  readonly world: World = new World();
  readonly server: LeaseServer = new LeaseServer();

  begin(identity: string, seats: number): { readonly member: ShardMember; readonly machine: Machine } {
    const machine = new Machine(this.world, 1);
    const leases = new SimulatedLeases(this.world, machine, this.server);
    const random = (): number => 0.5;
    const options = { ...defaultDurations, leases, identity, seats, clock: machine, wall: machine, random };
    const member = new ShardMember(options);
    member.start();
    return { member, machine };
  }

  async until(moment: number): Promise<void> {
    // Requests that were begun outside of the simulated time are sent now, and not when the next thing happens.
    await new Promise((resolve) => setImmediate(resolve));
    await this.world.run(moment, () => {});
  }

  holder(seat: number): string | undefined {
    return this.server.leases.get(`group-shard-${seat}`)?.spec?.holderIdentity;
  }
}

test("ShardMember is settled after a while beside a replica that was told of fewer seats, which may wait for just that", async () => {
  const group = new Group();
  const old = group.begin("old", 1).member;
  await group.until(5_000);
  const next = group.begin("next", 2).member;
  const seen = (): readonly unknown[] => [old.held.size, next.held.size, next.isSettled];
  await group.until(30_000);
  expect(seen()).toEqual([SLOTS, 0, false]);
  await group.until(36_000);
  expect(seen()).toEqual([SLOTS, 0, true]);
  const stopped = old.stop();
  await group.until(40_000);
  await stopped;
  expect(seen()).toEqual([0, SLOTS, true]);
  const ended = next.stop();
  await group.until(50_000);
  await ended;
  expect(next.isSettled).toBe(false);
});

test("ShardMember lets its seat go at the second try when the first one gets lost", async () => {
  const group = new Group();
  const { member, machine } = group.begin("one", 1);
  await group.until(2_000);
  expect(group.holder(0)).toBe("one");
  machine.cutUntil = 3_000;
  const stopped = member.stop();
  await group.until(10_000);
  await stopped;
  expect(group.holder(0)).toBe("");
});

test("ShardMember lets a seat go that it was about to take when it was stopped", async () => {
  const group = new Group();
  const { member, machine } = group.begin("one", 1);
  machine.latency = () => 100;
  await group.until(150);
  expect([member.seat, group.holder(0)]).toEqual([undefined, undefined]);
  const stopped = member.stop();
  await group.until(10_000);
  await stopped;
  expect(group.holder(0)).toBe("");
});
