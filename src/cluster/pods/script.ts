/**
 * What is to happen to a container: the program's word first, then the pod's annotations.
 *
 *     pods.binnacle.dev/ready-after: 2s            # or "never"; default at once
 *     pods.binnacle.dev/exits-after: 1s            # or "never"
 *     pods.binnacle.dev/exit-code: "1,1,0"         # of the first start, the second, and all further ones
 *     pods.binnacle.dev/fails: ImagePullBackOff    # it cannot start, until the annotation is removed
 *     pods.binnacle.dev/restarts-after: 100ms      # instead of the growing back-off
 *     pods.binnacle.dev/stops-after: 3s            # of a deleted pod
 *
 * `web.pods.binnacle.dev/…` is for the container `web` alone, `index-2.pods.binnacle.dev/…` for the pod of that index of
 * an indexed Job or a StatefulSet. An annotation may change while the pod runs: `kubectl annotate pod … --overwrite`.
 */
import type { Duration, ObjectOf } from "../../index.ts";
import type { Container, Pod } from "../../resource/builtin/index.ts";
import type { ContainerScript, ContainerStart, PodBehaviour } from "./pod-behaviour.ts";

const DOMAIN = "pods.binnacle.dev";

export interface ScriptOptions extends ContainerStart {
  readonly pod: ObjectOf<typeof Pod>;
  readonly container: Container;
  readonly behaviour: PodBehaviour | undefined;
}

/** What is to happen to a container. */
export function scriptOf({ pod, container, restarts, behaviour }: ScriptOptions): ContainerScript {
  const said = behaviour?.(pod, container, { restarts }) ?? {};
  const { annotations = {}, labels = {} } = pod.metadata;
  const index = labels["batch.kubernetes.io/job-completion-index"] ?? labels["apps.kubernetes.io/pod-index"];
  const domains = [`${container.name}.${DOMAIN}`, ...(index === undefined ? [] : [`index-${index}.${DOMAIN}`]), DOMAIN];
  const annotated = (name: string): string | undefined => {
    const domain = domains.find((one) => Object.hasOwn(annotations, `${one}/${name}`));
    return domain === undefined ? undefined : annotations[`${domain}/${name}`];
  };
  return {
    readyAfter: said.readyAfter ?? orNever(annotated("ready-after")),
    exitsAfter: said.exitsAfter ?? orNever(annotated("exits-after")),
    exitCode: said.exitCode ?? nth(annotated("exit-code"), restarts),
    fails: said.fails ?? annotated("fails"),
    restartsAfter: said.restartsAfter ?? (annotated("restarts-after") as Duration | undefined),
    stopsAfter: said.stopsAfter ?? (annotated("stops-after") as Duration | undefined),
  };
}

function orNever(text: string | undefined): Duration | false | undefined {
  return text === "never" ? false : (text as Duration | undefined);
}

function nth(text: string | undefined, index: number): number | undefined {
  if (text === undefined) return undefined;
  const codes = text.split(",").map(Number);
  const code = codes[Math.min(index, codes.length - 1)]!;
  if (Number.isInteger(code)) return code;
  throw new RangeError(`Cannot use ${JSON.stringify(text)} as exit code: expected numbers such as "1" or "1,1,0"`);
}
