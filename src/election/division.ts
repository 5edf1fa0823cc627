/**
 * Assigns slots to replicas by rendezvous hashing: each slot ranks the seats and belongs to the first taken one. So
 * when a seat becomes vacant, the other seats keep their slots; a newly taken seat only takes slots from others.
 *
 * Random ranks would give some replicas a third more than others. These ranks give replicas in the lowest seats shares
 * that differ by at most one slot: each further seat precedes those below it in as many slots as make the shares equal.
 * Weighted chance decides who follows when that seat is vacant.
 */
import { SLOTS, SlotSet } from "../cache/slots.ts";

/** The number of replicas that can have a share; further ones stand by. */
export const MOST_SEATS = 64;

/** The number of slots that share their random ranks; otherwise a server would receive too many ranges. */
const BLOCK = 4;

/** For each slot, its owners while the lowest 64, 63, 62 … seats are taken: each once, seat 0 last. */
let lines: readonly (readonly number[])[] | undefined;

function linesOfSlots(): readonly (readonly number[])[] {
  if (lines !== undefined) return lines;
  const owners: number[][] = Array.from({ length: SLOTS }, () => [0]);
  const slotsOf: number[][] = [Array.from({ length: SLOTS }, (_, slot) => slot)];
  for (let seat = 1; seat < MOST_SEATS; seat++) {
    const own: number[] = [];
    const share = Math.floor(SLOTS / (seat + 1));
    while (own.length < share) {
      const richest = slotsOf.reduce((best, slots) => (slots.length > best.length ? slots : best));
      // Slots are taken from the end, so that the others stay in one piece.
      const slot = richest.pop()!;
      own.push(slot);
      owners[slot]!.unshift(seat);
    }
    slotsOf.push(own.sort((a, b) => a - b));
  }
  return (lines = owners);
}

/** Returns the slots of a seat when these seats are taken. */
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
 * Returns the first taken seat in a slot's ranking: the seats of its line in order, and every other seat at a random
 * place behind the next lower seat of the line.
 */
function firstOf(line: readonly number[], { block, isTaken }: Taken): number | undefined {
  let best: number | undefined;
  let least = Infinity;
  let above = MOST_SEATS;
  for (let at = 0; at < line.length; at++) {
    const seat = line[at]!;
    // A seat of the line represents all seats below the previous one of the line, so its chance to come first grows
    // with their number.
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

/** An exponentially distributed number: among several, the smallest decides, and each is as likely as its weight. */
function chance(block: number, seat: number): number {
  let mixed = Math.imul(block + 1, 0x9e3779b1) ^ Math.imul(seat + 1, 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x7feb352d);
  mixed = Math.imul(mixed ^ (mixed >>> 15), 0x846ca68b);
  return -Math.log((((mixed ^ (mixed >>> 16)) >>> 0) + 1) / (2 ** 32 + 1));
}
