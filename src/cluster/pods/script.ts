/**
 * The script of a container: the program's options first, then the pod's annotations.
 *
 *     pods.binnacle.dev/ready-after: 2s            # or "never"; default at once
 *     pods.binnacle.dev/exits-after: 1s            # or "never"
 *     pods.binnacle.dev/exit-code: "1,1,0"         # of the first start, the second, and all further ones
 *     pods.binnacle.dev/fails: ImagePullBackOff    # it cannot start, until the annotation is removed
 *     pods.binnacle.dev/restarts-after: 100ms      # instead of the growing back-off
 *     pods.binnacle.dev/stops-after: 3s            # of a deleted pod
 *
 * `web.pods.binnacle.dev/…` is for the container `web` alone, `index-2.pods.binnacle.dev/…` for the pod of that index
 * of an indexed Job or a StatefulSet. An annotation may change while the pod runs: `kubectl annotate pod …
 * --overwrite`. A container whose script is invalid does not start, and its status names the mistake; a running
 * container continues.
 */
import type { Duration } from "../../index.ts";
import type { Container, Pod } from "../../resource/builtin/index.ts";
import { parseDuration } from "../../resource/duration.ts";
import type { ContainerScript, ContainerStart, PodBehaviour } from "./pod-behaviour.ts";

const DOMAIN = "pods.binnacle.dev";

const NAMES = ["ready-after", "exits-after", "exit-code", "fails", "restarts-after", "stops-after"];

export interface ScriptOptions extends ContainerStart {
  readonly pod: Pod;
  readonly container: Container;
  readonly behaviour: PodBehaviour | undefined;
}

export interface Script extends ContainerScript {
  /** The mistake because of which the script cannot be followed; the other fields are then absent. */
  readonly mistake?: string;
}

/** Combines the script of the program and that of the pod's annotations for a container. */
export function scriptOf(options: ScriptOptions): Script {
  try {
    const script = contentOf(options);
    const { readyAfter, exitsAfter, restartsAfter, stopsAfter } = script;
    check(readyAfter, "ready-after");
    check(exitsAfter, "exits-after");
    check(restartsAfter, "restarts-after");
    check(stopsAfter, "stops-after");
    return script;
  } catch (error) {
    return { mistake: error instanceof Error ? error.message : String(error) };
  }
}

/** Checks a duration. @throws Error when it cannot be parsed. */
function check(value: Duration | false | undefined, name: string): void {
  if (value !== undefined && value !== false) parseDuration(value, `${DOMAIN}/${name}`);
}

function contentOf({ pod, container, restarts, behaviour }: ScriptOptions): ContainerScript {
  const program = behaviour?.(pod, container, { restarts }) ?? {};
  const { annotations = {}, labels = {} } = pod.metadata;
  for (const annotation in annotations) checkName(annotation);
  const index = labels["batch.kubernetes.io/job-completion-index"] ?? labels["apps.kubernetes.io/pod-index"];
  const domains = [`${container.name}.${DOMAIN}`, ...(index === undefined ? [] : [`index-${index}.${DOMAIN}`]), DOMAIN];
  const annotated = (name: string): string | undefined => {
    const domain = domains.find((one) => Object.hasOwn(annotations, `${one}/${name}`));
    return domain === undefined ? undefined : annotations[`${domain}/${name}`];
  };
  return {
    readyAfter: program.readyAfter ?? orNever(annotated("ready-after")),
    exitsAfter: program.exitsAfter ?? orNever(annotated("exits-after")),
    exitCode: program.exitCode ?? nth(annotated("exit-code"), restarts),
    fails: program.fails ?? annotated("fails"),
    restartsAfter: program.restartsAfter ?? (annotated("restarts-after") as Duration | undefined),
    stopsAfter: program.stopsAfter ?? (annotated("stops-after") as Duration | undefined),
  };
}

/** Checks an annotation's name. @throws RangeError for a misspelt one, which would have no effect. */
function checkName(annotation: string): void {
  const [domain = "", name = ""] = annotation.split("/");
  const isScript = domain === DOMAIN || domain.endsWith(`.${DOMAIN}`);
  if (isScript && !NAMES.includes(name))
    throw new RangeError(`There is no annotation ${annotation}: expected one of ${NAMES.join(", ")}`);
}

function orNever(text: string | undefined): Duration | false | undefined {
  return text === "never" ? false : (text as Duration | undefined);
}

function nth(text: string | undefined, index: number): number | undefined {
  if (text === undefined) return undefined;
  const codes = text.split(",").map(Number);
  const code = codes[Math.min(index, codes.length - 1)]!;
  if (Number.isInteger(code)) return code;
  throw new RangeError(
    `Cannot use ${JSON.stringify(text)} as ${DOMAIN}/exit-code: expected numbers such as "1" or "1,1,0"`,
  );
}
