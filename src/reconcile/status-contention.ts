/** Tells whether others are likely to change an object between its last known state and a write of its status. */
import type { AnyObject } from "../resource/handle.ts";

/**
 * After a refused write the next ones are likely to be refused too: others are busy with the kind, or its watch is
 * late.
 */
const WARY_WRITES = 100;

/**
 * A write that names a version is the cheapest for the server, and is refused when the version has passed. A patch that
 * names the UID costs more and is not. Which of the two goes first is decided here; both are safe.
 */
export class StatusContention {
  readonly #isListed: (object: AnyObject) => boolean;
  #wary = 0;

  /** @param isListed whether the state of an object is from a list, and not from an event after it. */
  constructor(isListed: (object: AnyObject) => boolean) {
    this.#isListed = isListed;
  }

  /** A write was refused because the object had changed. */
  lost(): void {
    this.#wary = WARY_WRITES;
  }

  /**
   * Whether the next write of an object's status should name no version.
   *
   * A new object is one that an event has shown and that has no status of ours yet. Whoever creates an object often
   * annotates it next, and other controllers begin with it at the same moment.
   */
  isLikely(object: AnyObject, { isFirst }: { readonly isFirst: boolean }): boolean {
    if (isFirst && !this.#isListed(object)) return true;
    if (this.#wary === 0) return false;
    this.#wary--;
    return true;
  }
}
