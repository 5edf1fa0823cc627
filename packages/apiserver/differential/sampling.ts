/** Chooses which of very many exchanges are played: the same ones in each run. */

/** How many of the generated requests are played, and which. */
export interface Selection {
  /** Multiplies the shares of generated exchanges. @default 1 */
  readonly more?: number;
  /** Chooses other random walks. @default 0 */
  readonly seed?: number;
}

/** Whether a request of a case belongs to the share that is played; 1 is all of them. */
export function isChosen(caseName: string, label: string, share: number): boolean {
  return fraction(`${caseName} ${label}`) < share;
}

/** Returns a number from 0 to 1 that is always the same for a text. */
function fraction(text: string): number {
  let hash = 2166136261;
  for (let index = 0; index < text.length; index++) {
    hash ^= text.charCodeAt(index);
    hash = Math.imul(hash, 16777619);
  }
  hash ^= hash >>> 15;
  hash = Math.imul(hash, 2246822507);
  hash ^= hash >>> 13;
  return (hash >>> 0) / 2 ** 32;
}

/** Random choices that are the same in each run. */
export class Dice {
  #state: number;

  constructor(seed: number) {
    this.#state = seed * 2_654_435_761 + 1;
  }

  /** Returns a number from 0 to 1. */
  next(): number {
    this.#state = (Math.imul(this.#state, 1_664_525) + 1_013_904_223) >>> 0;
    let value = this.#state;
    value = Math.imul(value ^ (value >>> 16), 0x45d9f3b);
    value = Math.imul(value ^ (value >>> 16), 0x45d9f3b);
    return ((value ^ (value >>> 16)) >>> 0) / 2 ** 32;
  }

  chance(part: number): boolean {
    return this.next() < part;
  }

  one<T>(list: readonly [T, ...T[]] | readonly T[]): T {
    return list[Math.floor(this.next() * list.length)] as T;
  }

  /** Returns some items of a list, at least one, in their order. */
  some<T>(list: readonly T[], most: number = list.length): T[] {
    const count = 1 + Math.floor(this.next() * most);
    const items = list.filter(() => this.chance(count / list.length)).slice(0, most);
    return items.length > 0 ? items : [this.one(list)];
  }
}

/** Returns every pair of items of two lists. */
export function pairs<One, Other>(ones: readonly One[], others: readonly Other[]): [One, Other][] {
  return ones.flatMap((one) => others.map((other): [One, Other] => [one, other]));
}
