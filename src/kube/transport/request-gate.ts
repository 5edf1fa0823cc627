/** A gate that can refuse a request at any moment until it is sent. */

/** Asked before each attempt of a request, and again just before its first byte is sent. */
export interface RequestGate {
  /** Why requests are refused now; `undefined` while they are allowed. */
  readonly refused: string | undefined;
}

/** Thrown by every write after its run timed out, its module was removed, or leadership was lost. */
export class WritesRefused extends Error {
  override readonly name = "WritesRefused" as const;

  constructor(reason: string) {
    super(`Cannot write: ${reason}`);
  }
}
