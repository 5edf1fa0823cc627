/** What a candidate of an election is given. */
import type { Clock } from "../platform/clock.ts";
import type { ElectionDurations } from "./durations.ts";
import type { Lease } from "./lease.ts";
import type { LeaseLock } from "./lease-lock.ts";

export interface ElectorOptions extends ElectionDurations {
  readonly lock: LeaseLock;
  /** Tells this candidate from all others. */
  readonly identity: string;
  /** Labels of a Lease that this candidate creates. @default none */
  readonly labels?: Readonly<Record<string, string>> | undefined;
  /** Empties the Lease at the end, so that another candidate need not wait for it to expire. @default true */
  readonly release?: boolean | undefined;
  /**
   * Whether the Lease may be taken from this holder, who still renews it, once and before the first term. The term begins when
   * that one can write no more: after its lease duration. @default from nobody
   */
  readonly takesOverFrom?: ((holder: string) => boolean) | undefined;
  /** What timers and the steady side of a term go by. */
  readonly clock: Clock;
  /** @default the machine's time of day */
  readonly wall?: Pick<Clock, "now"> | undefined;
  /** Between 0 and 1. @default Math.random */
  readonly random?: (() => number) | undefined;
  /** Told what happens; nothing it throws is caught. */
  readonly observer?: ElectionObserver | undefined;
}

/** What an election has to tell, for logs, metrics and Events. */
export interface ElectionObserver {
  /**
   * A candidate holds the Lease, or nobody does (an empty identity). Called once for each change, with the time since when, by the
   * holder's clock.
   */
  observed?(holder: string, since: string | undefined): void;
  acquired?(lease: Lease): void;
  /** The Lease was taken from a holder, who is outlasted for so many milliseconds. */
  takenOver?(holder: string, wait: number): void;
  lost?(reason: string): void;
  /** A leader that was told to stop leads no more. */
  resigned?(): void;
  /** The Lease had changed under a leader, who had to read it again. */
  slowPath?(): void;
  /** The Lease cannot be watched, and is asked for again and again instead. */
  unwatched?(error: unknown): void;
  /** An attempt failed; `first` after an attempt that did not. */
  failed?(error: unknown, first: boolean): void;
}
