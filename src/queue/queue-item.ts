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

/** A queued key: delayed, ready, or ready and waiting for its own run to end (`place` -1 then). */
export class Entry implements QueueItem, ReadyItem {
  readonly key: string;
  priority: number;
  causes: readonly Cause[] = NO_CAUSES;
  attempt = 1;
  /** Rises with each item that becomes ready. */
  order = 0;
  place = -1;
  late = false;
  delayed = false;
  /** Of a delayed entry: when it is ready. Of the others: since when. */
  at = 0;
  /** The delay is a back-off, which `expedite` cuts short. */
  retry = false;
  startedAt = 0;
  /** Since when it waits to be left alone; 0 when it does not. */
  restlessSince = 0;

  constructor(key: string, priority: number) {
    this.key = key;
    this.priority = priority;
  }
}
