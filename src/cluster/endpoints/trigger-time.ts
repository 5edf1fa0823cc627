/** Finds the time of the change that caused an update of endpoints, from which proxies measure their delay. */
import type { Pod, Service } from "../../resource/builtin/index.ts";
import { podCondition, readySince } from "../workload/pod-state.ts";
import { timestamp } from "../workload/time.ts";

export const TRIGGER_TIME = "endpoints.kubernetes.io/last-change-trigger-time";

/** The times of a service and its pods at one check. */
interface Look {
  readonly service: number;
  /** The time at which each pod last became ready or not ready, by its name. */
  readonly pods: ReadonlyMap<string, number>;
}

export class TriggerTimes {
  /** The last look, by the UID of the service. */
  readonly #looks = new Map<string, Look>();

  /** Returns the time of the earliest change since the last call as RFC 3339; `undefined` when it is unknown. */
  since(service: Service, pods: readonly Pod[]): string | undefined {
    const { uid, creationTimestamp } = service.metadata;
    const created = Date.parse(creationTimestamp);
    const last = this.#looks.get(uid);
    const times = new Map<string, number>();
    let first = Infinity;
    for (const pod of pods) {
      const time = readyChange(pod);
      if (time === undefined) continue;
      const { name } = pod.metadata;
      times.set(name, time);
      if (time > (last?.pods.get(name) ?? 0)) first = Math.min(first, time);
    }
    this.#looks.set(uid, { service: created, pods: times });
    if (last === undefined) return creationTimestamp;
    return first === Infinity ? undefined : timestamp(first);
  }
}

function readyChange(pod: Pod): number | undefined {
  const since = readySince(pod);
  if (since !== undefined) return since;
  const ready = podCondition(pod, "Ready");
  return ready?.lastTransitionTime === undefined ? undefined : Date.parse(ready.lastTransitionTime);
}
