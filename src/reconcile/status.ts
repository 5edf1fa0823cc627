/** The type of `context.status`, which `ObjectStatusWriter` implements. */
import type { Shape } from "../resource/handle.ts";

/** The names of the conditions that a status keeps, whatever else its conditions hold. */
type ConditionType<Status> = Status extends { readonly conditions?: readonly (infer C)[] | undefined }
  ? C extends { readonly type: infer T extends string }
    ? T
    : never
  : never;

/** `context.status` of an object controller. */
export interface StatusWriter<S extends Shape> {
  /**
   * Merged over what this controller wrote before; `undefined` removes a field. Written once, at the end of the run.
   */
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
  /**
   * Writes now what was set so far. With `dryRun` the server checks it and stores nothing; it is written at the end of
   * the run all the same.
   */
  flush(options?: { readonly dryRun?: boolean }): Promise<void>;
}
