/**
 * Delays the replacement of a daemon's failed pods more and more, because a kubelet that rejects one pod will reject
 * the next.
 */

const FIRST = 1_000;
const LONGEST = 15 * 60_000;

interface Entry {
  delay: number;
  since: number;
}

/** The last replacement at each place, and how long the next one has to wait. */
export class FailureBackOff {
  readonly #entries = new Map<string, Entry>();

  /** Returns the milliseconds until a failed pod may be replaced; when it returns 0, the replacement is counted. */
  next(place: string, now: number): number {
    for (const [key, { since }] of this.#entries) if (now - since > 2 * LONGEST) this.#entries.delete(key);
    const entry = this.#entries.get(place);
    if (entry === undefined) {
      this.#entries.set(place, { delay: FIRST, since: now });
      return 0;
    }
    if (now - entry.since < entry.delay) return entry.since + entry.delay - now;
    entry.delay = Math.min(2 * entry.delay, LONGEST);
    entry.since = now;
    return 0;
  }
}
