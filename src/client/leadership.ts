/** Leadership: whether this process, or a module of it, is the one whose controllers may run. */
import { openGate, type WriteGate } from "../kube/transport/write-gate.ts";

/**
 * The write gate of an election, which also tells when it opens and closes.
 *
 * **Guarantee.** Listeners learn of a loss synchronously, before the write that discovered it is refused.
 */
export interface Leadership extends WriteGate {
  readonly isLeader: boolean;
  /** Calls the listener after each change of `isLeader`. */
  onChange(listener: (isLeader: boolean) => void): Disposable;
}

/** The leadership of a process without election: it always leads. */
export const alwaysLeader: Leadership = Object.freeze({
  refused: openGate.refused,
  isLeader: true,
  onChange: () => ({ [Symbol.dispose]: () => {} }),
});
