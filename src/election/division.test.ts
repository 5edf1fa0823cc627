import { expect, test } from "bun:test";
import { assert, property, uniqueArray, integer } from "fast-check";
import { SLOTS, SlotSet, slotOfName, slotOfUid } from "../cache/slots.ts";
import { MOST_SEATS, shareOf } from "./division.ts";

const range = (length: number): readonly number[] => Array.from({ length }, (_, index) => index);
const seats = uniqueArray(integer({ min: 0, max: 11 }), { minLength: 1, maxLength: 12 });

test("shareOf gives replicas in the lowest seats shares that differ by one slot at most", () => {
  for (const replicas of [1, 2, 3, 4, 5, 6, 7, 8, 16, 33, MOST_SEATS]) {
    const sizes = range(replicas).map((seat) => shareOf(seat, range(replicas)).size);
    expect(Math.max(...sizes) - Math.min(...sizes)).toBeLessThanOrEqual(1);
    expect(sizes.reduce((sum, size) => sum + size)).toBe(SLOTS);
  }
});

test("shareOf gives each slot to one of the seats that are taken, whichever they are", () => {
  assert(
    property(seats, (taken) => {
      const owners = new Map<number, number>();
      for (const seat of taken) {
        const share = shareOf(seat, taken);
        for (let slot = 0; slot < SLOTS; slot++) {
          if (!share.has(slot)) continue;
          expect(owners.has(slot)).toBe(false);
          owners.set(slot, seat);
        }
      }
      expect(owners.size).toBe(SLOTS);
    }),
    { numRuns: 60 },
  );
});

test("shareOf takes nothing from those who stay when a seat becomes vacant", () => {
  assert(
    property(seats, integer({ min: 0, max: 11 }), (taken, index) => {
      const gone = taken[index % taken.length];
      const left = taken.filter((seat) => seat !== gone);
      for (const seat of left) expect(shareOf(seat, left).includes(shareOf(seat, taken))).toBe(true);
    }),
    { numRuns: 60 },
  );
});

test("shareOf gives nobody a quarter more than his part when one of the lowest seats is vacant", () => {
  for (const replicas of [2, 3, 4, 5, 6, 7, 8, 12]) {
    for (const vacant of range(replicas)) {
      const taken = range(replicas).filter((seat) => seat !== vacant);
      const sizes = taken.map((seat) => shareOf(seat, taken).size);
      expect(Math.max(...sizes)).toBeLessThan((1.25 * SLOTS) / taken.length);
    }
  }
});

test("SlotSet asks a server for few ranges", () => {
  for (const replicas of [2, 4, 8]) {
    for (const seat of range(replicas)) {
      const selector = shareOf(seat, range(replicas)).shardSelector()!;
      expect(selector.split(" || ").length).toBeLessThanOrEqual(replicas);
    }
  }
  expect(new SlotSet(() => true).shardSelector()).toBe(
    "shardRange(object.metadata.uid, '0x0000000000000000', '0x10000000000000000')",
  );
  expect(SlotSet.none.shardSelector()).toBeUndefined();
});

test("slotOfUid agrees with the ranges by which the server divides, at every boundary", () => {
  const inSelector = (slots: SlotSet, hash: bigint): boolean =>
    [...slots.shardSelector()!.matchAll(/'(0x[0-9a-f]+)', '(0x[0-9a-f]+)'/g)].some(
      ([, start, end]) => BigInt(start!) <= hash && hash < BigInt(end!),
    );
  for (let at = 0; at < 500; at++) {
    const uid = crypto.randomUUID();
    let hash = 0xcbf29ce484222325n;
    for (const byte of Buffer.from(uid)) hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * 0x100000001b3n);
    const slot = slotOfUid(uid);
    expect(inSelector(new SlotSet((one) => one === slot), hash)).toBe(true);
    expect(inSelector(new SlotSet((one) => one !== slot), hash)).toBe(false);
  }
});

test("slotOfName spreads names that differ in their last characters", () => {
  const counts = new Map<number, number>();
  for (let at = 0; at < 400; at++) {
    const quarter = Math.floor((slotOfName(`team-${at}`) * 4) / SLOTS);
    counts.set(quarter, (counts.get(quarter) ?? 0) + 1);
  }
  for (const count of counts.values()) expect(count).toBeGreaterThan(70);
  expect(counts.size).toBe(4);
});
