/** The three durations of an election, named as in client-go. */

export interface ElectionDurations {
  /** Milliseconds after which a Lease that was not renewed may be taken over. */
  readonly leaseDuration: number;
  /** Milliseconds after the last renewal at which a leader stops writing. */
  readonly renewDeadline: number;
  /** Milliseconds between two attempts. */
  readonly retryPeriod: number;
}

/** The factor by which a candidate may wait longer than the retry period between two attempts. */
export const JITTER_FACTOR = 1.2;
/** The factor by which others wait longer, by their own clocks, than a holder of a seat works. */
const EXPIRY_FACTOR = 1.25;

/** The factor by which a lease duration from somebody else may exceed one's own. */
const MOST_BELIEVED = 4;
/**
 * The part of itself by which the pause between two renewals varies, so that replicas do not renew at the same moment.
 */
const RENEWAL_JITTER = 0.2;

/**
 * Returns how long a holder may write, by the duration in the Lease and one's own lease duration.
 *
 * Replicas get new durations one by one, so a longer duration is believed, within bounds: a Lease with a duration of
 * decades must not stop all work. A shorter one is not believed, because the holder may not have written it.
 */
export function believedDuration(written: number, own: number): number {
  return Math.max(own, Math.min(written, own * MOST_BELIEVED));
}

/** Returns the pause between a renewal of this duration and the next one. @param random between 0 and 1 */
export function renewalPause(
  retryPeriod: number,
  { took, random }: { readonly took: number; readonly random: number },
): number {
  return Math.max(0, retryPeriod * (1 + RENEWAL_JITTER * (random - 0.5)) - took);
}

/**
 * Returns how long to wait for a slow server, so that there is time for a second attempt on another connection when
 * no response arrives. @param remaining the milliseconds that are left of the term
 */
export function renewalTimeout(remaining: number, { renewDeadline, retryPeriod }: ElectionDurations): number {
  return Math.max(1, Math.min(remaining, Math.max(retryPeriod, remaining - renewDeadline * 0.15)));
}

/** Returns the milliseconds without a renewal after which others take a seat from a holder with these durations. */
export function expiryOf({ leaseDuration, renewDeadline }: Omit<ElectionDurations, "retryPeriod">): number {
  return Math.min(leaseDuration, renewDeadline * EXPIRY_FACTOR);
}

/** Checks the same conditions as client-go. @throws RangeError naming the duration that is too short. */
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
