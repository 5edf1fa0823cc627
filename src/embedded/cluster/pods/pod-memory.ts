/** What the kubelet knows of its pods beside their objects: times to the millisecond, where a status has seconds. */

/** Milliseconds since the epoch; 0 for never. */
interface Times {
  started: number;
  ended: number;
}

interface Remembered {
  readonly uid: string;
  /** When the deletion was first seen. */
  deleted: number;
  readonly containers: Map<string, Times>;
}

/** Of this process alone; what happened before it, the status says. */
export class PodMemory {
  /** By key. */
  readonly #pods = new Map<string, Remembered>();

  /** The times of one pod; those of an earlier one of its name are forgotten. */
  of(key: string, uid: string): PodTimes {
    let pod = this.#pods.get(key);
    if (pod?.uid !== uid) this.#pods.set(key, (pod = { uid, deleted: 0, containers: new Map<string, Times>() }));
    return new PodTimes(pod);
  }

  /** The pod is gone. */
  forget(key: string): void {
    this.#pods.delete(key);
  }
}

/** Of one pod. */
export class PodTimes {
  readonly #pod: Remembered;

  constructor(pod: Remembered) {
    this.#pod = pod;
  }

  start(container: string, now: number): void {
    this.#of(container).started = now;
  }

  end(container: string, now: number): void {
    this.#of(container).ended = now;
  }

  /** `written` is what the status says. */
  started(container: string, written: string | null | undefined): number {
    return this.#of(container).started || Date.parse(written ?? "") || 0;
  }

  ended(container: string, written: string | null | undefined): number {
    return this.#of(container).ended || Date.parse(written ?? "") || 0;
  }

  /** When the deletion was first seen: now, if it was not before. */
  deleted(now: number): number {
    return (this.#pod.deleted ||= now);
  }

  #of(container: string): Times {
    let times = this.#pod.containers.get(container);
    if (times === undefined) this.#pod.containers.set(container, (times = { started: 0, ended: 0 }));
    return times;
  }
}
