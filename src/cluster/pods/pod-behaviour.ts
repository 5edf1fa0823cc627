/** The types with which a program says how the containers behave on a cluster without machines. */
import type { Duration } from "../../index.ts";
import type { Container, Pod } from "../../resource/builtin/index.ts";

/** The script of one run of a container. */
export interface ContainerScript {
  /** The time from the start until it is ready; `false` for never. @default at once */
  readonly readyAfter?: Duration | false | undefined;
  /**
   * The time from the start until it ends; `false` for never.
   *
   * @default at once for init containers and where the pod's `restartPolicy` is OnFailure or Never, otherwise never
   */
  readonly exitsAfter?: Duration | false | undefined;
  /** The exit code. @default 0 */
  readonly exitCode?: number | undefined;
  /** The reason why it cannot start, such as `ImagePullBackOff`; the container waits as long as there is one. */
  readonly fails?: string | undefined;
  /** The time from its end to the next start. @default at once, then 10 s, doubled up to 5 minutes */
  readonly restartsAfter?: Duration | undefined;
  /** The time from the deletion of the pod to its end, at most the grace period. @default at once */
  readonly stopsAfter?: Duration | undefined;
}

/** Identifies one start of a container. */
export interface ContainerStart {
  /** How often the container was started before. */
  readonly restarts: number;
}

/**
 * Returns the script of a container; the pod's annotations complete it. It is called again at each check of the pod.
 */
export type PodBehaviour = (pod: Pod, container: Container, start: ContainerStart) => ContainerScript | undefined;
