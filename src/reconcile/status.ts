/** The status of an object, as this controller writes it: the types. `status-writer.ts` implements them. */
import type { Shape } from "../resource/handle.ts";
import type { Condition } from "../resource/meta.ts";

type ConditionType<Status> = Status extends {
  readonly conditions?: readonly Condition<infer T>[] | undefined;
}
  ? T
  : never;

/** `context.status` of an object controller. */
export interface StatusWriter<S extends Shape> {
  /** Merged over what this controller wrote before; `undefined` removes a field. Written once, at the end of the run. */
  set(fields: {
    readonly [K in keyof Omit<S["status"] & object, "conditions">]?: (S["status"] & object)[K] | undefined;
  }): void;
  /** Sets one condition; the others stay. `lastTransitionTime` and `observedGeneration` are kept for you. */
  condition(condition: {
    readonly type: ConditionType<S["status"]>;
    readonly status: boolean | "Unknown";
    readonly reason: string;
    readonly message?: string;
  }): void;
  /** Writes now what was set so far. */
  flush(): Promise<void>;
}
