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
    const found = list.filter(() => this.chance(count / list.length)).slice(0, most);
    return found.length > 0 ? found : [this.one(list)];
  }
}
