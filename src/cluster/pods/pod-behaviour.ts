/** How pods fare on a cluster without machines: what a program or the annotations of a pod say of each container. */
import type { Duration, ObjectOf } from "../../index.ts";
import type { Container, Pod } from "../../resource/builtin/index.ts";

/** What happens to one run of a container. */
export interface ContainerScript {
  /** From the start to readiness; `false` for never. @default at once */
  readonly readyAfter?: Duration | false | undefined;
  /** From the start to the end; `false` for never. @default at once with `restartPolicy` OnFailure or Never and in init containers, else never */
  readonly exitsAfter?: Duration | false | undefined;
  /** The status it ends with. @default 0 */
  readonly exitCode?: number | undefined;
  /** Why it cannot start, such as `ImagePullBackOff` or `CreateContainerConfigError`; it waits for as long as this is said. */
  readonly fails?: string | undefined;
}

/** Says what happens to a container each time that it is started; what it leaves out, the annotations say. */
export type PodBehaviour = (
  pod: ObjectOf<typeof Pod>,
  container: Container,
  run: {
    /** How often the container was restarted before. */
    readonly restarts: number;
  },
) => ContainerScript;
