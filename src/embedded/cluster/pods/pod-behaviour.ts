/** How pods fare on a cluster without machines: the types of what a program says of each container. */
import type { Duration, ObjectOf } from "../../../index.ts";
import type { Container, Pod } from "../../../resource/builtin/index.ts";

/** What happens to one run of a container. */
export interface ContainerScript {
  /** From the start to readiness; `false` for never. @default at once */
  readonly readyAfter?: Duration | false | undefined;
  /**
   * From the start to the end; `false` for never.
   *
   * @default at once in init containers and where the pod's `restartPolicy` is OnFailure or Never, else never
   */
  readonly exitsAfter?: Duration | false | undefined;
  /** The status it ends with. @default 0 */
  readonly exitCode?: number | undefined;
  /** Why it cannot start, such as `ImagePullBackOff`; it waits for as long as this is said. */
  readonly fails?: string | undefined;
  /** From the end to the next start, where the restart policy wants one. @default at once, then 10 s, doubled up to 5 minutes */
  readonly restartsAfter?: Duration | undefined;
  /** From the deletion of the pod to its end, at most the grace period. @default at once */
  readonly stopsAfter?: Duration | undefined;
}

/** Of one start of a container. */
export interface ContainerStart {
  /** How often the container was started before. */
  readonly restarts: number;
}

/** Says what happens to a container; what it leaves out, the pod's annotations say. Asked again at each look at the pod. */
export type PodBehaviour = (
  pod: ObjectOf<typeof Pod>,
  container: Container,
  start: ContainerStart,
) => ContainerScript | undefined;
