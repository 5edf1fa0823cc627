/** A key in a queue, from the time it is added until its run has ended. */
import type { Cause } from "./cause.ts";
import type { ReadyItem } from "./ready-items.ts";

/** A key that a worker has taken. */
export interface QueueItem {
  readonly key: string;
  readonly priority: number;
  /** Why the key was queued: newest last, at most 8 causes. */
  readonly causes: readonly Cause[];
  /** The number of consecutive failures so far, plus one. */
  readonly attempt: number;
}

export interface Parked {
  readonly reason: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

const NO_CAUSES: readonly Cause[] = Object.freeze([]);

/**
 * The state of an entry. It is `ready` also while it waits for the run of its key to end; it is in `retry` when its delay
 * is a back-off, which `expedite` ends.
 */
export type EntryState = "ready" | "delayed" | "retry" | "running";

/** A key that is queued or that a worker has. There are many entries: with 8 fields one takes 80 bytes, with 9 it takes 112. */
export class Entry implements QueueItem, ReadyItem {
  readonly key: string;
  priority: number;
  state: EntryState = "ready";
  causes: readonly Cause[] = NO_CAUSES;
  /** The position among ready items; for a running entry the attempt. */
  order = 0;
  place = -1;
  /** For a delayed entry when it becomes ready; for a ready or running one since when it is. */
  at = 0;
  /** For a running entry what was added since it was taken. */
  again: Entry | undefined = undefined;

  constructor(key: string, priority: number) {
    this.key = key;
    this.priority = priority;
  }

  get attempt(): number {
    return this.order;
  }

  get isDelayed(): boolean {
    return this.state === "delayed" || this.state === "retry";
  }
}
