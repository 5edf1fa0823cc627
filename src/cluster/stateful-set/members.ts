/** The pods of a stateful set: which are wanted, which are not, and their states. */
import type { Pod, StatefulSet } from "../../resource/builtin/index.ts";
import { isAvailable, isReady } from "../workload/pod-state.ts";
import { firstOrdinal, isWanted, ordinalOf, replicasOf } from "./identity.ts";

export class Members {
  readonly set: StatefulSet;
  /** The wanted pods by ordinal, from the first one on; `undefined` where one is missing. */
  readonly replicas: (Pod | undefined)[];
  /** The pods that are not wanted any more, the highest ordinal first. */
  readonly condemned: readonly Pod[];
  readonly #now: number;

  constructor(set: StatefulSet, pods: readonly Pod[], now: number) {
    this.set = set;
    this.#now = now;
    this.replicas = Array.from({ length: replicasOf(set) }, () => undefined);
    const condemned: Pod[] = [];
    for (const pod of pods) {
      const ordinal = ordinalOf(pod);
      if (isWanted(set, ordinal)) this.replicas[ordinal - firstOrdinal(set)] = pod;
      else if (ordinal >= 0) condemned.push(pod);
    }
    this.condemned = condemned.sort((a, b) => ordinalOf(b) - ordinalOf(a));
  }

  get isOrdered(): boolean {
    return this.set.spec.podManagementPolicy !== "Parallel";
  }

  get pods(): Pod[] {
    return [...this.replicas.filter((pod) => pod !== undefined), ...this.condemned];
  }

  isRunning(pod: Pod): boolean {
    const { minReadySeconds } = this.set.spec;
    return pod.status?.phase === "Running" && isReady(pod) && isAvailable(pod, { minReadySeconds, now: this.#now });
  }

  isUnavailable(pod: Pod | undefined): boolean {
    if (pod === undefined || isLeaving(pod)) return true;
    return !isAvailable(pod, { minReadySeconds: this.set.spec.minReadySeconds, now: this.#now });
  }

  /** The unavailable pod with the lowest ordinal; `undefined` also when that replica is missing. */
  get firstUnavailable(): Pod | undefined {
    const replica = this.replicas.findIndex((pod) => this.isUnavailable(pod));
    if (replica >= 0) return this.replicas[replica];
    return this.condemned.findLast((pod) => this.isUnavailable(pod));
  }
}

/** Whether the pod is being deleted. */
export function isLeaving(pod: Pod): boolean {
  return pod.metadata.deletionTimestamp !== undefined;
}
