/**
 * Slots of equal size, by which replicas divide keys. The slot of a key follows from a value such as a UID.
 *
 * A slot is a range of the 64-bit FNV-1a hash, the one by which kube-apiserver divides collections, so that a set of
 * slots can be asked for as ranges.
 *
 * @see https://kep.k8s.io/5866
 */

/** Divisible by every number up to eight, so that up to eight replicas have shares of equal size. */
export const SLOTS = 840;

const PRIME_LOW = 0x1b3;
const WORD = 2 ** 32;

/** The two halves of the last computed hash: variables, so that nothing is allocated for each object. */
let high = 0;
let low = 0;

function hash(value: string): void {
  high = 0xcbf29ce4;
  low = 0x84222325;
  for (let at = 0; at < value.length; at++) {
    low = (low ^ value.charCodeAt(at)) >>> 0;
    // Times 2^40 + 0x1b3.
    const product = low * PRIME_LOW;
    high = (high * PRIME_LOW + Math.floor(product / WORD) + low * 256) % WORD;
    low = product % WORD;
  }
}

/** The slot of a value that is as random as a UID: it follows from the first digits of the hash, as on the server. */
export function slotOfUid(uid: string): number {
  hash(uid);
  return Math.floor((high * SLOTS) / WORD);
}

/**
 * The slot of any other text. The first digits of FNV-1a are nearly the same for names that differ in their last
 * characters, so that all of `team-1` to `team-9` would be in one slot; here every bit counts.
 */
export function slotOfName(name: string): number {
  hash(name);
  let mixed = high ^ Math.imul(low, 0x9e3779b1);
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return Math.floor((((mixed ^ (mixed >>> 16)) >>> 0) * SLOTS) / WORD);
}

/** A set of slots, which never changes. */
export class SlotSet {
  static readonly none: SlotSet = new SlotSet(() => false);
  readonly size: number;
  readonly #has: Uint8Array = new Uint8Array(SLOTS);

  constructor(has: (slot: number) => boolean) {
    let size = 0;
    for (let slot = 0; slot < SLOTS; slot++) {
      if (!has(slot)) continue;
      this.#has[slot] = 1;
      size++;
    }
    this.size = size;
  }

  has(slot: number): boolean {
    return this.#has[slot] === 1;
  }

  and(other: SlotSet): SlotSet {
    return new SlotSet((slot) => this.has(slot) && other.has(slot));
  }

  or(other: SlotSet): SlotSet {
    return new SlotSet((slot) => this.has(slot) || other.has(slot));
  }

  without(other: SlotSet): SlotSet {
    return new SlotSet((slot) => this.has(slot) && !other.has(slot));
  }

  includes(other: SlotSet): boolean {
    for (let slot = 0; slot < SLOTS; slot++) if (other.has(slot) && !this.has(slot)) return false;
    return true;
  }

  /**
   * The selector for a server that divides collections by UID.
   *
   * @returns `undefined` for an empty set, which no selector can express.
   */
  shardSelector(): string | undefined {
    const ranges: string[] = [];
    for (let slot = 0; slot < SLOTS; slot++) {
      if (!this.has(slot)) continue;
      const start = slot;
      while (this.has(slot + 1)) slot++;
      ranges.push(`shardRange(object.metadata.uid, '${boundary(start)}', '${boundary(slot + 1)}')`);
    }
    return ranges.length === 0 ? undefined : ranges.join(" || ");
  }
}

/** The lower end of a slot in the hash: sixteen digits, and seventeen for the end of the last slot. */
function boundary(slot: number): string {
  const first = Math.ceil((slot * WORD) / SLOTS);
  return `0x${first.toString(16).padStart(8, "0")}00000000`;
}
