/** How large objects are, from a few of them: measuring each would cost more than keeping it. */
import type { AnyObject } from "../resource/handle.ts";
import { isStub } from "./projection.ts";

/** One in so many objects is measured, while they are new; later ones are mostly like those. */
const SAMPLE_EVERY = 64;
const LATER_EVERY = 1_024;
const NEW = 4_096;

export class SizeEstimate {
  #taken = 0;
  #measured = 0;
  #bytes = 0;

  /** Call it with each object; stubs do not count. */
  take(object: AnyObject): void {
    const turn = this.#taken++;
    const isTurn = turn % (turn < NEW ? SAMPLE_EVERY : LATER_EVERY) === 0;
    if ((!isTurn && this.#measured > 0) || isStub(object)) return;
    this.#bytes += bytesOf(object);
    this.#measured++;
  }

  /** Bytes of JSON of an average object; 0 before the first. */
  get average(): number {
    return this.#measured === 0 ? 0 : this.#bytes / this.#measured;
  }
}

/** An object that is nested too deeply to be written is rare enough not to count. */
function bytesOf(object: AnyObject): number {
  try {
    return JSON.stringify(object).length;
  } catch {
    return 0;
  }
}
