/**
 * Marks the code that occupies the event loop, in memory that another thread reads while this one is blocked.
 *
 * A mark is a text in a slot: fields of a JSON object, without its braces. Entering and leaving code writes a number.
 */

/** The indexes of the numbers that both threads share. */
export const PLACE = {
  /** Counts the turns of the event loop that were waited for, and wakes the other thread. */
  beat: 0,
  /** Becomes 1 when the other thread is to end. */
  stop: 1,
  /** 1 while another thread reads the marks. */
  isWatched: 2,
  /** The mark of the module whose function was called and has not returned. */
  module: 3,
  /** The mark of the run that began and has not waited yet. */
  run: 4,
  /** The last mark that continued: the running code is likely its own, although that is not certain. */
  last: 5,
  /** Becomes 1 when the other thread has reported that the event loop is blocked. */
  told: 6,
} as const;

const NUMBERS = 8;
/** The number of slots, enough for some tens of modules and the runs under way. Code without a slot is not marked. */
const SLOTS = 256;
/** The bytes of a slot, with the zero byte that ends its text. */
const SLOT_BYTES = 512;

/** The marks of a process; the thread that reads them makes another object on the same memory. */
export class LoopMarks {
  readonly memory: SharedArrayBuffer;
  readonly control: Int32Array;
  readonly #texts: Uint8Array;
  readonly #encoder = new TextEncoder();
  readonly #free: number[] = [];
  /** The number of used slots; slot 0 belongs to nobody. */
  #used = 1;

  constructor(memory: SharedArrayBuffer = new SharedArrayBuffer(4 * NUMBERS + SLOTS * SLOT_BYTES)) {
    this.memory = memory;
    this.control = new Int32Array(memory, 0, NUMBERS);
    this.#texts = new Uint8Array(memory, 4 * NUMBERS);
  }

  get isWatched(): boolean {
    return this.control[PLACE.isWatched] === 1;
  }

  /** @returns the slot; 0, which belongs to nobody, when nobody watches, no slot is free, or the text is too long. */
  take(text: string): number {
    if (!this.isWatched) return 0;
    const slot = this.#free.pop() ?? (this.#used < SLOTS ? this.#used++ : 0);
    if (slot === 0) return 0;
    const start = slot * SLOT_BYTES;
    const { read, written } = this.#encoder.encodeInto(text, this.#texts.subarray(start, start + SLOT_BYTES - 1));
    if (read < text.length) {
      this.release(slot);
      return 0;
    }
    this.#texts[start + written] = 0;
    return slot;
  }

  release(slot: number): void {
    if (slot === 0) return;
    this.#texts[slot * SLOT_BYTES] = 0;
    this.#free.push(slot);
  }

  /** Marks the call of a module's function. @returns the mark before, which {@link leaveModule} takes. */
  enterModule(slot: number): number {
    const before = this.control[PLACE.module]!;
    this.control[PLACE.module] = slot;
    this.control[PLACE.last] = slot;
    return before;
  }

  leaveModule(before: number): void {
    this.control[PLACE.module] = before;
  }

  /** Marks that code of the slot continues, because the result that it waited for has come. */
  goOn(slot: number): void {
    this.control[PLACE.last] = slot;
  }

  enterRun(slot: number): void {
    this.control[PLACE.run] = slot;
  }

  /**
   * Called when a run waits for the first time, or has ended. It continues before another run begins if its result is
   * already there.
   */
  leaveRun(): void {
    this.control[PLACE.last] = this.control[PLACE.run]!;
    this.control[PLACE.run] = 0;
  }

  /** The text in a slot; `undefined` when it is empty. */
  text(slot: number): string | undefined {
    const start = slot * SLOT_BYTES;
    let end = start;
    while (end < start + SLOT_BYTES && this.#texts[end] !== 0) end++;
    return end === start ? undefined : new TextDecoder().decode(this.#texts.slice(start, end));
  }

  /** Every text, in any order. */
  *texts(): Generator<string> {
    for (let slot = 1; slot < SLOTS; slot++) {
      const text = this.text(slot);
      if (text !== undefined) yield text;
    }
  }
}

/** The marks of this process: it has one event loop, and modules are called from many places. */
export const loopMarks: LoopMarks = new LoopMarks();

/** Returns an object's fields in the form of a mark. */
export function markText(fields: object): string {
  return JSON.stringify(fields).slice(1, -1);
}
