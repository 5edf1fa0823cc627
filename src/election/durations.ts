/** The three durations of an election, named as in client-go. */

export interface ElectionDurations {
  /** Milliseconds after which a Lease that was not renewed may be taken. */
  readonly leaseDuration: number;
  /** Milliseconds after the last renewal at which a leader stops writing. */
  readonly renewDeadline: number;
  /** Milliseconds between two attempts. */
  readonly retryPeriod: number;
}

/** By which factor a candidate may wait longer than the retry period between two attempts. */
export const JITTER_FACTOR = 1.2;
/**
 * A holder of a seat stops working at the renew deadline; by their own clocks, others wait a quarter longer before
 * they begin.
 */
const EXPIRY_FACTOR = 1.25;

/** Returns the milliseconds without a renewal after which others take a seat from a holder with these durations. */
export function expiryOf({ leaseDuration, renewDeadline }: Omit<ElectionDurations, "retryPeriod">): number {
  return Math.min(leaseDuration, renewDeadline * EXPIRY_FACTOR);
}

/**
 * Checks the same conditions as client-go.
 *
 * @throws RangeError naming the duration that is too short and the one that it must exceed.
 */
export function checkDurations({ leaseDuration, renewDeadline, retryPeriod }: ElectionDurations): void {
  if (!(leaseDuration >= 1_000)) {
    throw new RangeError(`Cannot elect a leader: the lease duration must be at least 1s, and is ${leaseDuration}ms`);
  }
  if (!(retryPeriod > 0)) {
    throw new RangeError(`Cannot elect a leader: the retry period must be longer than 0, and is ${retryPeriod}ms`);
  }
  if (!(leaseDuration > renewDeadline)) {
    throw new RangeError(
      `Cannot elect a leader: the lease duration (${leaseDuration}ms) must be longer than the renew deadline (${renewDeadline}ms)`,
    );
  }
  if (!(renewDeadline > retryPeriod * JITTER_FACTOR)) {
    throw new RangeError(
      `Cannot elect a leader: the renew deadline (${renewDeadline}ms) must be longer than ${JITTER_FACTOR} times the retry period (${retryPeriod}ms)`,
    );
  }
}
