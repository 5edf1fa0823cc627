/** The three durations of an election, as client-go names them. */

export interface ElectionDurations {
  /** Milliseconds after which a Lease that nobody renewed may be taken. */
  readonly leaseDuration: number;
  /** Milliseconds after the last renewal at which a leader stops writing. */
  readonly renewDeadline: number;
  /** Milliseconds between two attempts. */
  readonly retryPeriod: number;
}

/** How much longer than the retry period a candidate may wait between two attempts. */
export const JITTER_FACTOR = 1.2;
/** A holder of a seat stops working at the renew deadline; others may begin when a quarter more has passed by their clocks. */
const EXPIRY_FACTOR = 1.25;

/** Milliseconds without a renewal after which others take a seat from its holder, who has these durations. */
export function expiryOf({ leaseDuration, renewDeadline }: Omit<ElectionDurations, "retryPeriod">): number {
  return Math.min(leaseDuration, renewDeadline * EXPIRY_FACTOR);
}

/**
 * Checks what client-go checks.
 *
 * @throws RangeError naming the duration that is too short and the one it has to exceed.
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
