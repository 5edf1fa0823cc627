/**
 * The least milliseconds that a report of a failure covers: a second, or the time since the beginning of the failed
 * wait.
 */

const LEAST_MS = 1_000;

/** When each active `eventually` began, by `performance.now()`. */
const waiting = new Set<{ readonly since: number }>();
/** When the first wait began that has failed since the last report. */
let failedSince = Infinity;

/** An active `eventually`. */
export interface Wait {
  /** Called when a wait has failed, so that the next report covers the time since its beginning. */
  failed(): void;
  ended(): void;
}

export function beginWait(): Wait {
  const wait = { since: performance.now() };
  waiting.add(wait);
  return {
    failed: () => void (failedSince = Math.min(failedSince, wait.since)),
    ended: () => void waiting.delete(wait),
  };
}

/** The earliest moment that a report would cover now, by `performance.now()`. */
export function lookingBackTo(): number {
  let since = Math.min(performance.now() - LEAST_MS, failedSince);
  for (const wait of waiting) since = Math.min(since, wait.since);
  return since;
}

/** Marks the failures so far as reported. */
export function forgetFailures(): void {
  failedSince = Infinity;
}
