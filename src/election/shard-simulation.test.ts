import { expect, test } from "bun:test";
import { type Arbitrary, array, assert, asyncProperty, constantFrom, double, integer, oneof, record } from "fast-check";
import { defaultDurations, Machine, World } from "../../tests/support/integration/election-world.ts";
import { LeaseServer, SimulatedLeases, SimulatedWork } from "../../tests/support/integration/shard-world.ts";
import { SLOTS } from "../cache/slots.ts";
import { ShardMember } from "./shard-member.ts";

const REPLICAS = 4;
const SCHEDULES = Number(process.env.SHARD_SCHEDULES ?? 60);

/** Moments of true time, many of them close together: events that hit replicas one by one are less trouble. */
const moment = record({ cluster: integer({ min: 0, max: 5 }), offset: integer({ min: 0, max: 4_000 }) }).map(
  ({ cluster, offset }) => cluster * 24_000 + offset,
);

/** A fault of one replica. */
const mishap = record({
  at: moment,
  whom: integer({ min: 0, max: REPLICAS - 1 }),
  what: constantFrom("pause", "cut", "lose answers", "slow", "deaf", "restart", "crash"),
  ms: oneof(integer({ min: 1, max: 3_000 }), integer({ min: 1, max: 40_000 })),
});

const schedule = record({
  rates: array(double({ min: 0.9, max: 1.1, noNaN: true }), { minLength: REPLICAS, maxLength: REPLICAS }),
  starts: array(moment, { minLength: REPLICAS, maxLength: REPLICAS }),
  /** There are fewer seats than replicas, so the others stand by. */
  seats: integer({ min: 2, max: 6 }),
  mishaps: array(mishap, { maxLength: 16 }),
  seed: integer(),
});

type Schedule = typeof schedule extends Arbitrary<infer T> ? T : never;

/** Neighbours in a share behave alike, so a few slots represent all of them. */
const LOOKED_AT = Array.from({ length: 28 }, (_, index) => Math.floor((index * SLOTS) / 28));

interface Process {
  readonly member: ShardMember;
  readonly work: SimulatedWork;
  readonly leases: SimulatedLeases;
}

interface Replica {
  machine: Machine;
  now: Process | undefined;
}

interface Outcome {
  /** The longest time for which nobody worked on an observed slot. */
  readonly longestGap: number;
  readonly requests: number;
}

async function play({ rates, starts, seats, mishaps, seed }: Schedule): Promise<Outcome> {
  const world = new World();
  const server = new LeaseServer();
  const random = generator(seed);
  const processes: Process[] = [];
  let born = 0;
  const begin = (machine: Machine): Process => {
    const leases = new SimulatedLeases(world, machine, server);
    const identity = `replica-${born++}`;
    const options = { ...defaultDurations, leases, identity, seats, clock: machine, wall: machine, random };
    const member = new ShardMember(options);
    const process = { member, leases, work: new SimulatedWork(member, machine, 8_000) };
    processes.push(process);
    member.start();
    return process;
  };
  const replicas: Replica[] = rates.map((rate, index) => {
    const replica: Replica = { machine: new Machine(world, rate), now: undefined };
    world.at(starts[index]!, () => (replica.now ??= begin(replica.machine)));
    return replica;
  });
  for (const { at, whom, what, ms } of mishaps) {
    const replica = replicas[whom]!;
    world.at(at, () => {
      const { machine } = replica;
      if (what === "pause") machine.pause(ms);
      else if (what === "cut") machine.cutUntil = Math.max(machine.cutUntil, world.now + ms);
      else if (what === "lose answers") machine.losesAnswersUntil = Math.max(machine.losesAnswersUntil, world.now + ms);
      else if (what === "deaf") {
        if (replica.now !== undefined) replica.now.leases.deafUntil = world.now + ms;
      } else if (what === "slow") {
        machine.latency = () => random() * Math.min(ms, 6_000);
        world.at(world.now + ms, () => (machine.latency = () => 1));
      } else if (replica.now !== undefined) {
        if (what === "restart") void replica.now.member.stop();
        else {
          machine.pause(Infinity);
          replica.machine = new Machine(world, rates[whom]!);
        }
        replica.now = begin(replica.machine);
      }
    });
  }
  // Runs begin, and observations happen, at moments that are independent of what the members do.
  for (let at = 0; at < 220_000; at += 50 + random() * 600) {
    const slot = LOOKED_AT[Math.floor(random() * LOOKED_AT.length)]!;
    const ms = random() < 0.1 ? 12_000 : random() * 2_000;
    world.at(at, () => {
      for (const { work } of processes) work.begin(slot, ms);
    });
  }

  const worked = LOOKED_AT.map(() => 0);
  let longestGap = 0;
  const check = (): void => {
    const holding = processes.map((process) => ({ ...process, held: process.member.held }));
    LOOKED_AT.forEach((slot, index) => {
      let workers = 0;
      for (const { work, held } of holding) if (work.works(slot, held)) workers++;
      if (workers > 1) throw new Error(`slot ${slot} is worked by ${workers} at ${world.now}`);
      if (workers === 1) {
        longestGap = Math.max(longestGap, world.now - worked[index]!);
        worked[index] = world.now;
      }
    });
  };
  await world.run(220_000, check);
  // There were no faults for a while: exactly one replica works on every slot.
  const members = replicas.map(({ now }) => now!.member);
  for (let slot = 0; slot < SLOTS; slot++) expect(members.filter(({ held }) => held.has(slot))).toHaveLength(1);
  expect(members.filter(({ held }) => held.size > 0)).toHaveLength(Math.min(seats, REPLICAS));
  const stops = members.map((member) => member.stop());
  await world.run(300_000, () => {});
  await Promise.all(stops);
  for (const lease of server.leases.values()) expect(lease.spec?.holderIdentity).toBe("");
  return { longestGap, requests: server.version };
}

const calm = { rates: [1, 1, 1, 1], starts: [0, 0, 0, 0], seats: 8, seed: 1, mishaps: [] };

test(
  "ShardMember lets no slot be worked by two, and each by one in the end, whatever pauses, cuts, losses and clocks do",
  async () => {
    await assert(
      asyncProperty(schedule, async (plan) => void (await play(plan))),
      { numRuns: SCHEDULES },
    );
  },
  SCHEDULES * 5_000,
);

test("ShardMember takes the slots of a replica over within a lease duration of its crash", async () => {
  for (let seed = 0; seed < 10; seed++) {
    const { longestGap } = await play({
      ...calm,
      seed,
      mishaps: [{ at: 30_000 + seed * 550, whom: seed % 4, what: "pause", ms: 90_000 }],
    });
    expect(longestGap).toBeLessThan(defaultDurations.leaseDuration - 1_000);
  }
}, 180_000);

test("ShardMember hands slots over within moments when a replica comes or stops", async () => {
  const { longestGap } = await play({
    ...calm,
    starts: [0, 20_000, 40_000, 60_000],
    mishaps: [{ at: 90_000, whom: 1, what: "restart", ms: 1 }],
  });
  // A run of twelve seconds delays the hand-over of its slot, and of the slots handed over with it, by the grace
  // period.
  expect(longestGap).toBeLessThan(9_000);
}, 180_000);

test("ShardMember writes its Lease once in a retry period while nothing changes", async () => {
  const { requests } = await play(calm);
  // Four replicas run for 220 s; a few more divide the keys at the beginning.
  const renewals = (4 * 220_000) / defaultDurations.retryPeriod;
  expect(requests).toBeLessThan(renewals * 1.1);
  expect(requests).toBeGreaterThan(renewals * 0.9);
}, 180_000);

function generator(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
