/** The kubelet's memory of its pods: times to the millisecond, because a status has only seconds. */

/** Times in milliseconds since the epoch; 0 for never. */
interface Times {
  started: number;
  ended: number;
}

/** The times that this process has seen; earlier ones are in the status. */
export class PodMemory {
  /** The pods by key. */
  readonly #pods = new Map<string, PodTimes>();

  /** Returns the times of a pod, and forgets those of an earlier pod with the same name. */
  of(key: string, uid: string): PodTimes {
    let times = this.#pods.get(key);
    if (times?.uid !== uid) this.#pods.set(key, (times = new PodTimes(uid)));
    return times;
  }

  /** Forgets a pod that is gone. */
  forget(key: string): void {
    this.#pods.delete(key);
  }
}

export class PodTimes {
  readonly uid: string;
  readonly #containers = new Map<string, Times>();
  #deleted = 0;

  constructor(uid: string) {
    this.uid = uid;
  }

  start(container: string, now: number): void {
    this.#of(container).started = now;
  }

  end(container: string, now: number): void {
    this.#of(container).ended = now;
  }

  /** Returns when a container started. @param written the time in the status */
  started(container: string, written: string | null | undefined): number {
    return this.#of(container).started || Date.parse(written ?? "") || 0;
  }

  ended(container: string, written: string | null | undefined): number {
    return this.#of(container).ended || Date.parse(written ?? "") || 0;
  }

  /** Returns when the deletion was first seen, which is now at the first call. */
  deleted(now: number): number {
    return (this.#deleted ||= now);
  }

  #of(container: string): Times {
    let times = this.#containers.get(container);
    if (times === undefined) this.#containers.set(container, (times = { started: 0, ended: 0 }));
    return times;
  }
}
