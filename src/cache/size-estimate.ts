/** How large objects are, from a few of them: measuring each would cost more than keeping it. */
import type { AnyObject } from "../resource/handle.ts";

/** One in so many objects is measured. */
const SAMPLE_EVERY = 64;

export class SizeEstimate {
  #taken = 0;
  #measured = 0;
  #bytes = 0;

  /** Call it with each object. */
  take(object: AnyObject): void {
    if (this.#taken++ % SAMPLE_EVERY !== 0) return;
    this.#measured++;
    this.#bytes += JSON.stringify(object).length;
  }

  /** Bytes of JSON of an average object; 0 before the first. */
  get average(): number {
    return this.#measured === 0 ? 0 : this.#bytes / this.#measured;
  }
}
