/** Estimates whether others are likely to change an object between its last known state and a write of its status. */
import type { AnyObject } from "../resource/handle.ts";

/**
 * The number of writes after a refused one that are likely to be refused too: others are busy with the kind, or its
 * watch is late.
 */
const WARY_WRITES = 100;

/**
 * Decides which of two safe writes is tried first: one that names a version is the cheapest for the server, but is
 * refused when the version has passed; a patch that names the UID costs more, but is never refused for that.
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
   * An object is new when an event has shown it and it has no status of ours yet. Its creator often annotates it next,
   * and other controllers begin to work on it at the same moment.
   */
  isLikely(object: AnyObject, { isFirst }: { readonly isFirst: boolean }): boolean {
    if (isFirst && !this.#isListed(object)) return true;
    if (this.#wary === 0) return false;
    this.#wary--;
    return true;
  }
}
