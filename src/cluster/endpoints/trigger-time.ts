/** Finds the time of the change that caused an update of endpoints; proxies measure with it how fast changes reach them. */
import type { Pod, Service } from "../../resource/builtin/index.ts";
import { readySince } from "../workload/pod-state.ts";

export const TRIGGER_TIME = "endpoints.kubernetes.io/last-change-trigger-time";

interface Seen {
  readonly service: number;
  /** When each pod last became ready or not ready, by its name. */
  readonly pods: ReadonlyMap<string, number>;
}

export class TriggerTimes {
  /** What the last call saw, by the UID of the service. */
  readonly #seen = new Map<string, Seen>();

  /** Returns the time of the earliest change since the last call as RFC 3339; `undefined` when it is unknown. */
  since(service: Service, pods: readonly Pod[]): string | undefined {
    const { uid, creationTimestamp } = service.metadata;
    const created = Date.parse(creationTimestamp);
    const last = this.#seen.get(uid);
    const times = new Map<string, number>();
    let first = Infinity;
    for (const pod of pods) {
      const time = readyChange(pod);
      if (time === undefined) continue;
      const { name } = pod.metadata;
      times.set(name, time);
      if (time > (last?.pods.get(name) ?? 0)) first = Math.min(first, time);
    }
    this.#seen.set(uid, { service: created, pods: times });
    if (last === undefined) return creationTimestamp;
    return first === Infinity ? undefined : `${new Date(first).toISOString().slice(0, 19)}Z`;
  }

  forget(uid: string): void {
    this.#seen.delete(uid);
  }
}

function readyChange(pod: Pod): number | undefined {
  const since = readySince(pod);
  if (since !== undefined) return since;
  const ready = pod.status?.conditions?.find(({ type }) => type === "Ready");
  return ready?.lastTransitionTime === undefined ? undefined : Date.parse(ready.lastTransitionTime);
}
