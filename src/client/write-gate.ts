/** The one place that decides whether this process may still write. */

/** Thrown by every write after its run timed out, its module was removed, or leadership was lost. */
export class WritesRefused extends Error {
  override readonly name = "WritesRefused" as const;

  constructor(reason: string) {
    super(`Cannot write: ${reason}`);
  }
}

/**
 * Asked before each write. Election closes it first of all when the lease is lost; a run closes its own.
 */
export interface WriteGate {
  /** Why writes are refused now; `undefined` while they are allowed. */
  readonly refused: string | undefined;
}

/** The gate of a process without leader election. */
export const openGate: WriteGate = Object.freeze({ refused: undefined });
