/** Estimates the size of objects from a sample; measuring each object would cost more than storing it. */
import type { AnyObject } from "../resource/handle.ts";
import { isStub } from "./projection.ts";

/** One in so many objects is measured at first; later objects are mostly similar. */
const SAMPLE_EVERY = 64;
const LATER_EVERY = 1_024;
const NEW = 4_096;

export class SizeEstimate {
  #taken = 0;
  #measured = 0;
  #bytes = 0;

  /** Takes note of an object; stubs do not count. */
  take(object: AnyObject): void {
    const turn = this.#taken++;
    const isTurn = turn % (turn < NEW ? SAMPLE_EVERY : LATER_EVERY) === 0;
    if ((!isTurn && this.#measured > 0) || isStub(object)) return;
    this.#bytes += bytesOf(object);
    this.#measured++;
  }

  /** The average size of an object as JSON, in bytes; 0 before the first. */
  get average(): number {
    return this.#measured === 0 ? 0 : this.#bytes / this.#measured;
  }
}

/** An object that is nested too deeply to be serialized is rare and counts as 0. */
function bytesOf(object: AnyObject): number {
  try {
    return JSON.stringify(object).length;
  } catch {
    return 0;
  }
}
