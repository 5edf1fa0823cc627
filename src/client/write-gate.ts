/** The write gate: decides whether writes are still allowed. */
import type { RequestGate } from "../kube/transport/request-gate.ts";

/** Asked before each write. Losing the Lease closes the gate of the process before anything else happens; a run closes its own gate at its end. */
export interface WriteGate extends RequestGate {}

/** The gate of a process without leader election. */
export const openGate: WriteGate = Object.freeze({ refused: undefined });
