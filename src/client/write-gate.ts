/** The one place that decides whether this process may still write. */
import type { RequestGate } from "../kube/transport/request-gate.ts";

/** Asked before each write. Election closes it first of all when the Lease is lost; a run closes its own. */
export interface WriteGate extends RequestGate {}

/** The gate of a process without leader election. */
export const openGate: WriteGate = Object.freeze({ refused: undefined });
