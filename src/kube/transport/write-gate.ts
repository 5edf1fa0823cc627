/** A gate that can refuse a write at any moment until it is sent. */

/**
 * Permits or refuses writes. It is checked before each attempt of a request, and again just before its first byte is
 * sent. Losing the Lease closes the gate of the process before anything else happens; a run closes its own gate at its
 * end.
 */
export interface WriteGate {
  /** Why requests are refused now; `undefined` while they are allowed. */
  readonly refused: string | undefined;
}

/** The gate of a process without leader election. */
export const openGate: WriteGate = Object.freeze({ refused: undefined });

/** Thrown by every write after its run timed out, its module was removed, or leadership was lost. */
export class WritesRefused extends Error {
  override readonly name = "WritesRefused" as const;

  constructor(reason: string) {
    super(`Cannot write: ${reason}`);
  }
}
