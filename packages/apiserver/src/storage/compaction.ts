/** Decides which earlier versions can still be listed: they expire by time, whether or not anything changes. */

/**
 * Compacts at the end of each interval to the version of its beginning, as kube-apiserver does with etcd. So a version
 * can be listed for at least one interval and at most two.
 */
export class Compaction {
  readonly #interval: number;
  /** The time at which the present interval began, in milliseconds. */
  #began: number;
  /** The version at that time. */
  #mark: number;
  /** The earliest version that can be listed. */
  compacted: number;

  constructor(interval: number, { now, version, compacted }: { now: number; version: number; compacted: number }) {
    this.#interval = interval;
    this.#began = now;
    this.#mark = version;
    this.compacted = compacted;
  }

  /**
   * Compacts if an interval has ended.
   *
   * @returns the version from then on. As in etcd, where a compaction is recorded under a version of its own, each one
   *   takes a version; so the last version of a server to which nobody writes expires as well.
   */
  advance(now: number, version: number): number {
    const ended = Math.floor((now - this.#began) / this.#interval);
    if (!(ended >= 1)) return version;
    this.#began += ended * this.#interval;
    let next = version;
    // After two intervals without a write nothing is left to compact.
    for (let count = Math.min(ended, 2); count > 0; count -= 1) {
      this.compacted = Math.max(this.compacted, this.#mark);
      this.#mark = next += 1;
    }
    return next;
  }
}
