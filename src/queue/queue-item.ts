/** A key in a queue, from its first add to the end of its run. */
import type { Cause } from "./cause.ts";
import type { ReadyItem } from "./ready-items.ts";

/** A key that a worker has taken. */
export interface QueueItem {
  readonly key: string;
  readonly priority: number;
  /** Newest last, at most 8. */
  readonly causes: readonly Cause[];
  /** Failures so far, plus one. */
  readonly attempt: number;
}

export interface Parked {
  readonly reason: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

const NO_CAUSES: readonly Cause[] = Object.freeze([]);

/**
 * What an entry is: `ready` also while it waits for the run of its key to end, `retry` when its delay is a back-off,
 * which `expedite` cuts short.
 */
export type EntryState = "ready" | "delayed" | "retry" | "running";

/** A key that is queued or being worked on. There are many of them: with 8 fields one takes 80 bytes, with 9 it takes 112. */
export class Entry implements QueueItem, ReadyItem {
  readonly key: string;
  priority: number;
  state: EntryState = "ready";
  causes: readonly Cause[] = NO_CAUSES;
  /** Rises with each item that becomes ready; of a running one it is the attempt. */
  order = 0;
  place = -1;
  /** Of a delayed entry: when it is ready; of a ready one: since when; of a running one: since when. */
  at = 0;
  /** Of a running entry: what was added since it was taken. */
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
