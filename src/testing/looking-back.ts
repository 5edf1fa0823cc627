/** How far a report of a failure looks back: a second, or to the begin of the wait that failed. */

const LEAST_MS = 1_000;

/** When each `eventually` that still waits began, by `performance.now()`. */
const waiting = new Set<{ readonly since: number }>();
/** When the first of those began that failed since the last report. */
let failedSince = Infinity;

/** An `eventually` that waits. */
export interface Wait {
  /** It goes on without what it waited for: whoever reports next tells what happened meanwhile. */
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

/** The earliest moment that a report of now would tell of, by `performance.now()`. */
export function lookingBackTo(): number {
  let since = Math.min(performance.now() - LEAST_MS, failedSince);
  for (const wait of waiting) since = Math.min(since, wait.since);
  return since;
}

/** What failed so far has been reported. */
export function forgetFailures(): void {
  failedSince = Infinity;
}
