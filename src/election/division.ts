/**
 * Which replica works which slot, by rendezvous hashing: each slot ranks the seats, and the first of them that is taken has
 * it. So a seat that becomes vacant changes nothing for the slots of others, and one that is taken only takes.
 *
 * Random ranks would give some replicas a third more than others. These are made so that replicas in the lowest seats have
 * shares that differ by one slot at most: each further seat goes before those below it in as many slots as make the shares
 * equal. Chance, by weights, decides who follows when that seat is vacant.
 */
import { SLOTS, SlotSet } from "../cache/slots.ts";

/** More replicas than this have no share and stand by. */
export const MOST_SEATS = 64;

/** Chance decides for blocks of slots, or the ranges that a server is asked for would be many. */
const BLOCK = 4;

/** Of each slot, who has it when the lowest 64, 63, 62 … seats are taken: falling, each named once, and seat 0 the last. */
let lines: readonly (readonly number[])[] | undefined;

function linesOfSlots(): readonly (readonly number[])[] {
  if (lines !== undefined) return lines;
  const found: number[][] = Array.from({ length: SLOTS }, () => [0]);
  const slotsOf: number[][] = [Array.from({ length: SLOTS }, (_, slot) => slot)];
  for (let seat = 1; seat < MOST_SEATS; seat++) {
    const taken: number[] = [];
    const share = Math.floor(SLOTS / (seat + 1));
    while (taken.length < share) {
      const richest = slotsOf.reduce((best, slots) => (slots.length > best.length ? slots : best));
      // From the end, so that what is left stays in one piece.
      const slot = richest.pop()!;
      taken.push(slot);
      found[slot]!.unshift(seat);
    }
    slotsOf.push(taken.sort((a, b) => a - b));
  }
  return (lines = found);
}

/** The slots of a seat when these seats are taken. */
export function shareOf(seat: number, taken: readonly number[]): SlotSet {
  const all = linesOfSlots();
  const isTaken = new Uint8Array(MOST_SEATS);
  for (const one of taken) isTaken[one] = 1;
  return new SlotSet((slot) => firstOf(all[slot]!, { block: Math.floor(slot / BLOCK), isTaken }) === seat);
}

interface Taken {
  readonly block: number;
  readonly isTaken: Uint8Array;
}

/**
 * The first taken seat in the ranking of a slot: its line from the front, with each of the other seats at a place that
 * chance gives it behind the next lower one of the line.
 */
function firstOf(line: readonly number[], { block, isTaken }: Taken): number | undefined {
  let best: number | undefined;
  let least = Infinity;
  let above = MOST_SEATS;
  for (let at = 0; at < line.length; at++) {
    const seat = line[at]!;
    // One of the line stands for all seats below the one before it, so it goes before others as many times as often.
    if (at > 0 && least < chance(block, seat) / above) return best;
    if (isTaken[seat] === 1) return seat;
    for (let other = seat + 1; other < above; other++) {
      if (isTaken[other] !== 1) continue;
      const score = chance(block, other);
      if (score >= least) continue;
      best = other;
      least = score;
    }
    above = seat;
  }
  return best;
}

/** Exponentially distributed: of several the least decides, each as likely as its weight. */
function chance(block: number, seat: number): number {
  let mixed = Math.imul(block + 1, 0x9e3779b1) ^ Math.imul(seat + 1, 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x7feb352d);
  mixed = Math.imul(mixed ^ (mixed >>> 15), 0x846ca68b);
  return -Math.log((((mixed ^ (mixed >>> 16)) >>> 0) + 1) / (2 ** 32 + 1));
}
